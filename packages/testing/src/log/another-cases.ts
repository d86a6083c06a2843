import type { SessionLog } from "@loopwright/core/ports";
import { expectSame, expectThat } from "../kit/kit.ts";
import type { Make, StoreCase } from "../kit/store-case.ts";
import { noteBatch, sampleAt, sampleRef, titlesIn } from "../samples/sample-facts.ts";
import { later } from "./dated-session.ts";
import type { LogUnderTest } from "./log-under-test.ts";

const leaseMs = 15_000;
const needs = ["another"];

/** One process that has written and read the first fact, so that it knows what there is, and another that has not. */
async function knowing(make: Make<LogUnderTest>): Promise<readonly [SessionLog, SessionLog]> {
  const { log, another } = await make();
  expectThat(another !== undefined, "The subject has no `another`: give it one, or name the lack `another`.");
  const other = await another();
  await log.append(sampleRef, noteBatch("b1", 0, { due: sampleAt }));
  expectSame(await titlesIn(log), ["b1"], "the log");
  expectSame((await log.head(sampleRef)).lastSeq, 1, "the tail");
  return [log, other];
}

/** What a process knows of a session is old as soon as another one writes, claims, closes or removes. */
export const anotherCases: readonly StoreCase<LogUnderTest>[] = [
  {
    id: "another-appends",
    promise: "a process that wrote the last fact it knows learns of what another has written since: `conflict`, the facts, the tail",
    needs,
    async run(make) {
      const [log, other] = await knowing(make);
      expectSame(await other.append(sampleRef, noteBatch("b2", 1)), { type: "ok", lastSeq: 2 }, "the other's answer");
      expectSame(await log.append(sampleRef, noteBatch("b3", 1)), { type: "conflict", actualSeq: 2 }, "the answer");
      expectSame(await titlesIn(log), ["b1", "b2"], "the log");
      expectSame((await log.read(sampleRef, { from: 2 })).length, 1, "facts from the second on");
      expectSame((await log.head(sampleRef)).lastSeq, 2, "the tail");
      expectSame(await log.append(sampleRef, noteBatch("b2", 1)), { type: "dup", lastSeq: 2 }, "the other's batch again");
      expectSame(await log.append(sampleRef, noteBatch("b3", 2)), { type: "ok", lastSeq: 3 }, "the second try");
      expectSame(await titlesIn(other), ["b1", "b2", "b3"], "the log as the other reads it");
    },
  },
  {
    id: "another-read-first",
    promise: "a process that has read the log reads what another has written since, though it writes nothing itself",
    needs,
    async run(make) {
      const [log, other] = await knowing(make);
      for (const [seq, title] of ["b2", "b3"].entries()) {
        await other.append(sampleRef, noteBatch(title, seq + 1));
        expectSame((await titlesIn(log)).at(-1), title, "the last fact");
        expectSame((await log.head(sampleRef)).lastSeq, seq + 2, "the tail");
      }
    },
  },
  {
    id: "another-claims",
    promise:
      "an owner that has written learns that another process has taken its session: no append, no renewal, no release, and it sees the lease",
    needs,
    async run(make) {
      const [log, other] = await knowing(make);
      await log.claim(sampleRef, { node: "one", leaseMs });
      expectSame((await log.append(sampleRef, noteBatch("b2", 1, { epoch: 1 }))).type, "ok", "the owner's append");
      await log.release(sampleRef, 1);
      expectSame(await other.claim(sampleRef, { node: "two", leaseMs }), { type: "claimed", epoch: 2, lastSeq: 2 }, "the other's claim");
      expectSame(
        await log.append(sampleRef, noteBatch("b3", 2, { epoch: 1 })),
        { type: "fenced", currentEpoch: 2 },
        "the old owner's append",
      );
      expectSame(await log.renew(sampleRef, { epoch: 1, leaseMs }), false, "its renewal");
      await log.release(sampleRef, 1);
      const { epoch, lease } = await log.head(sampleRef);
      expectSame([epoch, lease?.node], [2, "two"], "the head");
      expectSame((await log.claim(sampleRef, { node: "one", leaseMs })).type, "held", "its claim");
      expectSame(await titlesIn(other), ["b1", "b2"], "the log");
    },
  },
  {
    id: "another-closes",
    promise: "a process that has written learns that another has closed the session, and its own batch again is a duplicate",
    needs,
    async run(make) {
      const [log, other] = await knowing(make);
      await other.append(sampleRef, { batchId: "end", expectedSeq: 1, facts: [{ type: "session.closed", at: sampleAt, v: 1 }] });
      expectSame(await log.append(sampleRef, noteBatch("b2", 1)), { type: "closed" }, "the answer");
      expectSame(await log.append(sampleRef, noteBatch("b1", 0)), { type: "dup", lastSeq: 1 }, "its own batch again");
    },
  },
  {
    id: "another-removes",
    promise: "a process that has written, read and claimed a session learns that another has removed it",
    needs,
    async run(make) {
      const [log, other] = await knowing(make);
      await log.claim(sampleRef, { node: "one", leaseMs });
      await other.remove(sampleRef);
      expectSame(await log.append(sampleRef, noteBatch("b2", 1)), { type: "closed" }, "the answer");
      expectSame(await log.read(sampleRef), [], "facts");
      expectSame(await log.renew(sampleRef, { epoch: 1, leaseMs }), false, "the renewal");
      expectSame((await log.head(sampleRef)).lastSeq, 0, "the tail");
    },
  },
  {
    id: "another-due",
    promise: "a session that one process has dated is due in another, and no longer when that one has claimed it",
    needs,
    async run(make) {
      const [log, other] = await knowing(make);
      expectSame((await other.due({ now: later })).length, 1, "due in the other process");
      expectSame((await log.due({ now: later })).length, 1, "due in the first");
      await other.claim(sampleRef, { node: "two", leaseMs });
      expectSame(await log.due({ now: later }), [], "due in the first once the other has claimed");
    },
  },
];
