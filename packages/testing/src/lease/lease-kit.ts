import type { SessionLog } from "@loopwright/core/ports";
import { expectSame, expectThat } from "../kit/kit.ts";
import type { StoreCase, StoreKit } from "../kit/store-case.ts";
import { overTwo } from "../log/log-over-two.ts";
import type { LogUnderTest } from "../log/log-under-test.ts";
import { noteBatch, secondRef as other, sampleRef } from "../samples/sample-facts.ts";
import { expiryCases } from "./expiry-cases.ts";
import { renewalCases } from "./renewal-cases.ts";

const leaseMs = 15_000;

function claim(log: SessionLog, node: string): ReturnType<SessionLog["claim"]> {
  return log.claim(sampleRef, { node, leaseMs });
}

const claimCases: readonly StoreCase<LogUnderTest>[] = [
  {
    id: "first-claim",
    promise: "the first claim gets epoch 1 and the tail of the log",
    async run(make) {
      const { log } = await make();
      await log.append(sampleRef, noteBatch("b1", 0));
      expectSame(await claim(log, "one"), { type: "claimed", epoch: 1, lastSeq: 1 }, "the answer");
    },
  },
  {
    id: "one-holder",
    promise: "while a lease runs another node is notified of its holder and for how long",
    async run(make) {
      const { log } = await make();
      await claim(log, "one");
      const answer = await claim(log, "two");
      expectThat(answer.type === "held" && answer.node === "one", `the answer was ${JSON.stringify(answer)}`);
      expectThat(answer.remainingMs > 0 && answer.remainingMs <= leaseMs, `${answer.remainingMs} ms remain`);
    },
  },
  {
    id: "head-lease",
    promise: "the head names the epoch and the running lease",
    async run(make) {
      const { log } = await make();
      await claim(log, "one");
      const { epoch, lease } = await log.head(sampleRef);
      expectSame([epoch, lease?.node], [1, "one"], "epoch and node");
      expectThat(lease !== undefined && lease.remainingMs > 0 && lease.remainingMs <= leaseMs, "the lease has no time left");
    },
  },
  {
    id: "own-claim",
    promise: "the same node may claim again and gets the next epoch",
    async run(make) {
      const { log } = await make();
      await claim(log, "one");
      expectSame(await claim(log, "one"), { type: "claimed", epoch: 2, lastSeq: 0 }, "the answer");
    },
  },
  {
    id: "two-claimants",
    promise: "of many nodes that claim at once exactly one gets the session",
    async run(make) {
      const { log } = await make();
      const answers = await Promise.all(Array.from({ length: 8 }, (_, index) => claim(log, `node${index}`)));
      expectSame(answers.filter(({ type }) => type === "claimed").length, 1, "winners");
      expectSame((await log.head(sampleRef)).epoch, 1, "the epoch");
    },
  },
  {
    id: "epochs-rise",
    promise: "every claim of a session gets the next epoch, from any node and however often",
    async run(make) {
      const { log } = await make();
      for (let epoch = 1; epoch <= 40; epoch++) {
        expectSame(await claim(log, `node${epoch % 3}`), { type: "claimed", epoch, lastSeq: 0 }, "the answer");
        await log.release(sampleRef, epoch);
      }
    },
  },
  {
    id: "held-changes-nothing",
    promise: "a claim that is refused leaves the epoch and the lease as they were: the owner writes and renews",
    async run(make) {
      const { log } = await make();
      await claim(log, "one");
      await claim(log, "two");
      expectSame(await log.renew(sampleRef, { epoch: 1, leaseMs }), true, "the renewal");
      expectSame((await log.append(sampleRef, noteBatch("b1", 0, { epoch: 1 }))).type, "ok", "the append");
    },
  },
  {
    id: "claim-writes-nothing",
    promise: "claims, renewals and releases write no fact",
    async run(make) {
      const { log } = await make();
      await claim(log, "one");
      await log.renew(sampleRef, { epoch: 1, leaseMs });
      await log.release(sampleRef, 1);
      expectSame(await log.read(sampleRef), [], "the log");
    },
  },
  {
    id: "leases-apart",
    promise: "leases and epochs of sessions are apart",
    async run(make) {
      const { log } = await make();
      await claim(log, "one");
      expectSame(await log.claim(other, { node: "two", leaseMs }), { type: "claimed", epoch: 1, lastSeq: 0 }, "the answer");
    },
  },
];

const releaseCases: readonly StoreCase<LogUnderTest>[] = [
  {
    id: "release",
    promise: "a released session can be claimed at once, under the next epoch",
    async run(make) {
      const { log } = await make();
      await claim(log, "one");
      await log.release(sampleRef, 1);
      expectSame((await log.head(sampleRef)).lease, undefined, "the lease in the head");
      expectSame(await claim(log, "two"), { type: "claimed", epoch: 2, lastSeq: 0 }, "the claim");
    },
  },
  {
    id: "release-old",
    promise: "releasing an old epoch takes nothing from the new owner",
    async run(make) {
      const { log } = await make();
      await claim(log, "one");
      await claim(log, "one");
      await log.release(sampleRef, 1);
      expectSame((await log.head(sampleRef)).lease?.node, "one", "the owner");
    },
  },
  {
    id: "release-twice",
    promise: "giving back twice, or what was never claimed, does nothing",
    async run(make) {
      const { log } = await make();
      await log.release(sampleRef, 1);
      await claim(log, "one");
      await log.release(sampleRef, 1);
      await log.release(sampleRef, 1);
      expectSame(await claim(log, "two"), { type: "claimed", epoch: 2, lastSeq: 0 }, "the claim");
    },
  },
  {
    id: "renew-ahead",
    promise: "an epoch that was never given can neither renew nor release",
    async run(make) {
      const { log } = await make();
      await claim(log, "one");
      expectSame(await log.renew(sampleRef, { epoch: 2, leaseMs }), false, "the renewal");
      await log.release(sampleRef, 2);
      expectSame((await claim(log, "two")).type, "held", "a claim after the release");
    },
  },
  {
    id: "renew-released",
    promise: "a lease that was given back cannot be renewed; nor can one that never was",
    async run(make) {
      const { log } = await make();
      expectSame(await log.renew(sampleRef, { epoch: 1, leaseMs }), false, "without a claim");
      await claim(log, "one");
      await log.release(sampleRef, 1);
      expectSame(await log.renew(sampleRef, { epoch: 1, leaseMs }), false, "after the release");
    },
  },
  {
    id: "release-in-append",
    promise: "an append with `release` writes and gives the lease back in one step",
    async run(make) {
      const { log } = await make();
      await claim(log, "one");
      await log.append(sampleRef, noteBatch("b1", 0, { epoch: 1, release: true }));
      expectSame(await claim(log, "two"), { type: "claimed", epoch: 2, lastSeq: 1 }, "the claim");
    },
  },
  {
    id: "refused-keeps-lease",
    promise: "an append with `release` that writes nothing keeps the lease",
    async run(make) {
      const { log } = await make();
      await claim(log, "one");
      await log.append(sampleRef, noteBatch("b1", 7, { epoch: 1, release: true }));
      expectSame((await claim(log, "two")).type, "held", "the claim");
    },
  },
  {
    id: "command-keeps-lease",
    promise: "an append without an epoch takes no node's lease away",
    async run(make) {
      const { log } = await make();
      await claim(log, "one");
      await log.append(sampleRef, noteBatch("b1", 0, { release: true }));
      expectSame((await claim(log, "two")).type, "held", "the claim");
    },
  },
  {
    id: "lease-after-reopen",
    promise: "a lease runs on while the store is closed and opened again",
    needs: ["reopen"],
    async run(make) {
      const subject = await make();
      await claim(subject.log, "one");
      const log = (await subject.reopen?.()) ?? subject.log;
      expectSame((await claim(log, "two")).type, "held", "the claim");
    },
  },
  {
    id: "epoch-after-reopen",
    promise: "epochs continue to rise after the store was closed and opened again",
    needs: ["reopen"],
    async run(make) {
      const subject = await make();
      await claim(subject.log, "one");
      const log = (await subject.reopen?.()) ?? subject.log;
      await log.release(sampleRef, 1);
      expectSame(await claim(log, "two"), { type: "claimed", epoch: 2, lastSeq: 0 }, "the claim");
    },
  },
];

const ownCases = [...claimCases, ...expiryCases, ...renewalCases, ...releaseCases];

/** The promises of leases. Capabilities: `time`, `reopen`, `another`. */
export const leaseKit: StoreKit<LogUnderTest> = [...ownCases, ...overTwo(ownCases)];
