import type { SessionLog } from "@loopwright/core/ports";
import { expectSame, expectThat } from "../kit/kit.ts";
import type { StoreCase } from "../kit/store-case.ts";
import type { LogUnderTest } from "../log/log-under-test.ts";
import { noteBatch, sampleRef, secondRef } from "../samples/sample-facts.ts";

const leaseMs = 15_000;

function claim(log: SessionLog, node: string): ReturnType<SessionLog["claim"]> {
  return log.claim(sampleRef, { node, leaseMs });
}

/** Leases and time. */
export const expiryCases: readonly StoreCase<LogUnderTest>[] = [
  {
    id: "expiry",
    promise: "after its time, and not before, a lease is over by the store's clock, and the next claim gets the next epoch",
    needs: ["time"],
    async run(make) {
      const { log, advance } = await make();
      await claim(log, "one");
      advance?.(leaseMs - 1_000);
      expectSame((await claim(log, "two")).type, "held", "one second before the end");
      advance?.(1_001);
      expectSame((await log.head(sampleRef)).lease, undefined, "the lease in the head");
      expectSame(await claim(log, "two"), { type: "claimed", epoch: 2, lastSeq: 0 }, "after the end");
    },
  },
  {
    id: "renew",
    promise: "a renewal makes the lease run anew from now",
    needs: ["time"],
    async run(make) {
      const { log, advance } = await make();
      await claim(log, "one");
      advance?.(10_000);
      expectSame(await log.renew(sampleRef, { epoch: 1, leaseMs }), true, "the renewal");
      advance?.(10_000);
      expectSame((await claim(log, "two")).type, "held", "a claim after 20 s");
    },
  },
  {
    id: "late-renew",
    promise: "an owner whose lease is over may renew it until another node has claimed",
    needs: ["time"],
    async run(make) {
      const { log, advance } = await make();
      await claim(log, "one");
      advance?.(leaseMs + 1);
      expectSame(await log.renew(sampleRef, { epoch: 1, leaseMs }), true, "the renewal");
      expectSame((await claim(log, "two")).type, "held", "a claim after it");
    },
  },
  {
    id: "lease-length",
    promise: "a lease runs as long as its own claim or renewal states",
    needs: ["time"],
    async run(make) {
      const { log, advance } = await make();
      await log.claim(sampleRef, { node: "one", leaseMs: 1_000 });
      await log.claim(secondRef, { node: "one", leaseMs: 60_000 });
      advance?.(1_001);
      expectSame((await log.head(sampleRef)).lease, undefined, "the short one");
      await log.renew(sampleRef, { epoch: 1, leaseMs: 90_000 });
      advance?.(58_000);
      expectSame((await log.claim(secondRef, { node: "two", leaseMs })).type, "held", "a claim of the long one");
      expectSame((await claim(log, "two")).type, "held", "a claim of the renewed one");
    },
  },
  {
    id: "remaining",
    promise: "what remains of a lease becomes less as time passes",
    needs: ["time"],
    async run(make) {
      const { log, advance } = await make();
      await claim(log, "one");
      advance?.(10_000);
      const [held, head] = [await claim(log, "two"), await log.head(sampleRef)];
      for (const ms of [held.type === "held" ? held.remainingMs : 0, head.lease?.remainingMs ?? 0])
        expectThat(ms > 0 && ms <= 5_000, `${ms} ms remain after 10 of 15 seconds`);
    },
  },
  {
    id: "two-heirs",
    promise: "of many nodes that claim at once after an owner's death exactly one becomes its heir",
    needs: ["time"],
    async run(make) {
      const { log, advance } = await make();
      await claim(log, "one");
      advance?.(leaseMs + 1);
      const answers = await Promise.all(Array.from({ length: 8 }, (_, index) => claim(log, `node${index}`)));
      expectSame(
        answers.filter(({ type }) => type === "claimed"),
        [{ type: "claimed", epoch: 2, lastSeq: 0 }],
        "heirs",
      );
    },
  },
  {
    id: "renew-after-take-over",
    promise: "a renewal after a take-over answers false and takes nothing from the new owner",
    needs: ["time"],
    async run(make) {
      const { log, advance } = await make();
      await claim(log, "one");
      advance?.(leaseMs + 1);
      await claim(log, "two");
      expectSame(await log.renew(sampleRef, { epoch: 1, leaseMs }), false, "the renewal");
      expectSame((await log.head(sampleRef)).lease?.node, "two", "the owner");
    },
  },
  {
    id: "fence-after-expiry",
    promise: "an owner whose lease is over still writes until another claims, and is fenced from then on",
    needs: ["time"],
    async run(make) {
      const { log, advance } = await make();
      await claim(log, "one");
      advance?.(leaseMs + 1);
      expectSame((await log.append(sampleRef, noteBatch("b1", 0, { epoch: 1 }))).type, "ok", "before the take-over");
      await claim(log, "two");
      expectSame(await log.append(sampleRef, noteBatch("b2", 1, { epoch: 1 })), { type: "fenced", currentEpoch: 2 }, "after it");
    },
  },
];
