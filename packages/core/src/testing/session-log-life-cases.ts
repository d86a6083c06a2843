import type { SessionRef } from "../ports/session-log.ts";
import { expectSame } from "./kit.ts";
import type { LogUnderTest } from "./log-under-test.ts";
import { noteBatch, noteFacts, sampleRef } from "./sample-facts.ts";
import type { StoreCase } from "./store-case.ts";
import { expectCode, expectSoon } from "./store-expectation.ts";

const other = { scope: "local", session: "second" };

async function withFive(subject: LogUnderTest): Promise<LogUnderTest> {
  await subject.log.append(sampleRef, { batchId: "b1", expectedSeq: 0, facts: noteFacts(5) });
  return subject;
}

async function seqs({ log }: LogUnderTest, options?: { readonly from?: number; readonly limit?: number }): Promise<readonly number[]> {
  return (await log.read(sampleRef, options)).map(({ seq }) => seq);
}

const readCases: readonly StoreCase<LogUnderTest>[] = [
  {
    id: "unknown-session",
    promise: "an unknown session has no facts, no epoch and no lease",
    async run(make) {
      const { log } = await make();
      expectSame(await log.read(sampleRef), [], "facts");
      expectSame(await log.head(sampleRef), { lastSeq: 0, epoch: 0 }, "the head");
    },
  },
  {
    id: "head",
    promise: "the head names the last seq",
    async run(make) {
      const { log } = await withFive(await make());
      expectSame((await log.head(sampleRef)).lastSeq, 5, "the last seq");
    },
  },
  {
    id: "read-from",
    promise: "reading begins at `from`",
    async run(make) {
      const subject = await withFive(await make());
      expectSame(await seqs(subject, { from: 4 }), [4, 5], "from 4");
      expectSame(await seqs(subject, { from: 1 }), [1, 2, 3, 4, 5], "from 1");
    },
  },
  {
    id: "read-limit",
    promise: "reading ends after `limit` facts",
    async run(make) {
      const subject = await withFive(await make());
      expectSame(await seqs(subject, { limit: 2 }), [1, 2], "limit 2");
      expectSame(await seqs(subject, { from: 2, limit: 3 }), [2, 3, 4], "from 2, limit 3");
    },
  },
  {
    id: "read-beyond",
    promise: "reading from beyond the tail gives nothing",
    async run(make) {
      expectSame(await seqs(await withFive(await make()), { from: 6 }), [], "facts");
    },
  },
  {
    id: "read-all",
    promise: "without a limit a log of any length is read whole",
    async run(make) {
      const subject = await make();
      for (let batch = 0; batch < 10; batch++)
        await subject.log.append(sampleRef, { batchId: `b${batch}`, expectedSeq: batch * 250, facts: noteFacts(250) });
      expectSame((await seqs(subject)).length, 2500, "facts");
      expectSame((await seqs(subject, { from: 1200 })).length, 1301, "facts from 1200");
    },
  },
  {
    id: "read-snapshot",
    promise: "what was read does not change by later appends",
    async run(make) {
      const { log } = await withFive(await make());
      const before = await log.read(sampleRef);
      await log.append(sampleRef, noteBatch("b2", 5));
      expectSame(before.length, 5, "facts read before");
    },
  },
  {
    id: "sessions-apart",
    promise: "sessions of one scope are apart",
    async run(make) {
      const { log } = await withFive(await make());
      expectSame(await log.read(other), [], "the other session");
    },
  },
  {
    id: "scopes-apart",
    promise: "sessions of the same id in two scopes are apart",
    async run(make) {
      const { log } = await withFive(await make());
      const foreign: SessionRef = { scope: "other", session: sampleRef.session };
      expectSame(await log.read(foreign), [], "the other scope");
      expectSame(await log.append(foreign, noteBatch("b1", 0)), { type: "ok", lastSeq: 1 }, "an append there");
    },
  },
  {
    id: "bad-ids",
    promise: "scopes and sessions that are no ids are refused with INPUT_INVALID",
    async run(make) {
      const { log } = await make();
      for (const session of ["", "A", "../x", "a/b", "-a", "a".repeat(65), "a\u0000", "é"])
        await expectCode("INPUT_INVALID", log.append({ scope: "local", session }, noteBatch("b1", 0)));
      await expectCode("INPUT_INVALID", log.claim({ scope: "Local", session: "a" }, { node: "n", leaseMs: 1 }));
    },
  },
];

const endCases: readonly StoreCase<LogUnderTest>[] = [
  {
    id: "removed",
    promise: "a removed session has no facts; its neighbours keep theirs",
    async run(make) {
      const { log } = await withFive(await make());
      await log.append(other, noteBatch("b1", 0));
      await log.remove(sampleRef);
      expectSame(await log.read(sampleRef), [], "facts");
      expectSame((await log.read(other)).length, 1, "facts of the neighbour");
    },
  },
  {
    id: "never-again",
    promise: "the id of a removed session is never used again",
    async run(make) {
      const { log } = await withFive(await make());
      await log.remove(sampleRef);
      expectSame(await log.append(sampleRef, noteBatch("b2", 0)), { type: "closed" }, "a new batch");
      expectSame(await log.append(sampleRef, noteBatch("b3", 5)), { type: "closed" }, "a batch at the old tail");
      await log.remove(other);
      expectSame(await log.append(other, noteBatch("b1", 0)), { type: "closed" }, "an id that was removed before it was used");
    },
  },
  {
    id: "reopen",
    promise: "facts, epochs and removals are there after the store was closed and opened again",
    needs: ["reopen"],
    async run(make) {
      const subject = await withFive(await make());
      await subject.log.claim(sampleRef, { node: "n", leaseMs: 15_000 });
      await subject.log.remove(other);
      const log = (await subject.reopen?.()) ?? subject.log;
      expectSame(
        (await log.read(sampleRef)).map(({ seq }) => seq),
        [1, 2, 3, 4, 5],
        "facts",
      );
      expectSame((await log.head(sampleRef)).epoch, 1, "the epoch");
      expectSame(await log.append(other, noteBatch("b1", 0)), { type: "closed" }, "the removed session");
    },
  },
];

const subscribeCases: readonly StoreCase<LogUnderTest>[] = [
  {
    id: "subscribe",
    promise: "a subscriber is told the last seq soon after an append, and nothing of other sessions",
    needs: ["subscribe"],
    async run(make) {
      const { log, patienceMs = 2_000 } = await make();
      const [told, toldOfOther]: [number[], number[]] = [[], []];
      const stop = log.subscribe?.(sampleRef, (lastSeq) => told.push(lastSeq));
      const stopOther = log.subscribe?.(other, (lastSeq) => toldOfOther.push(lastSeq));
      await log.append(sampleRef, { batchId: "b1", expectedSeq: 0, facts: noteFacts(2) });
      await expectSoon(() => told.includes(2), { what: "the subscriber is told of seq 2", withinMs: patienceMs });
      expectSame(toldOfOther, [], "what the other's subscriber heard");
      stop?.();
      stopOther?.();
    },
  },
  {
    id: "unsubscribe",
    promise: "a subscriber that has left is told nothing more; the others are",
    needs: ["subscribe"],
    async run(make) {
      const { log, patienceMs = 2_000 } = await make();
      const [left, stays]: [number[], number[]] = [[], []];
      log.subscribe?.(sampleRef, (lastSeq) => left.push(lastSeq))();
      const stop = log.subscribe?.(sampleRef, (lastSeq) => stays.push(lastSeq));
      await log.append(sampleRef, noteBatch("b1", 0));
      await expectSoon(() => stays.includes(1), { what: "the subscriber that stays is told", withinMs: patienceMs });
      expectSame(left, [], "what the one that left heard");
      stop?.();
    },
  },
  {
    id: "subscribe-removed",
    promise: "a subscriber is told 0 soon after a removal",
    needs: ["subscribe"],
    async run(make) {
      const { log, patienceMs = 2_000 } = await make();
      const told: number[] = [];
      await log.append(sampleRef, noteBatch("b1", 0));
      const stop = log.subscribe?.(sampleRef, (lastSeq) => told.push(lastSeq));
      await log.remove(sampleRef);
      await expectSoon(() => told.at(-1) === 0, { what: "the subscriber is told of the removal", withinMs: patienceMs });
      stop?.();
    },
  },
];

/** Reading, keeping apart, ending and coming back. */
export const lifeCases: readonly StoreCase<LogUnderTest>[] = [...readCases, ...endCases, ...subscribeCases];
