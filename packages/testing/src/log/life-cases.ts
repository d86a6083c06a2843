import { isAgentError, type SessionRef } from "@loopwright/core";
import { expectSame } from "../kit/kit.ts";
import type { StoreCase } from "../kit/store-case.ts";
import { expectCode } from "../kit/store-expectation.ts";
import { noteBatch, noteFact, noteFacts, secondRef as other, sampleAt, sampleRef, titlesIn } from "../samples/sample-facts.ts";
import type { LogUnderTest } from "./log-under-test.ts";

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
    id: "read-none",
    promise: "a limit of 0 gives nothing",
    async run(make) {
      expectSame(await seqs(await withFive(await make()), { limit: 0 }), [], "facts");
    },
  },
  {
    id: "read-large",
    promise: "a log of several megabytes is read whole",
    async run(make) {
      const { log } = await make();
      for (let batch = 0; batch < 5; batch++) {
        const facts = Array.from({ length: 4 }, (_, index) => noteFact(`${batch}.${index} ${"x".repeat(250_000)}`));
        await log.append(sampleRef, { batchId: `b${batch}`, expectedSeq: batch * 4, facts });
      }
      const last = (await log.read(sampleRef)).at(-1);
      expectSame([last?.seq, String(last && "title" in last && last.title).slice(0, 3)], [20, "4.3"], "the last fact");
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

/** Cases of removed and closed sessions. */
export const endCases: readonly StoreCase<LogUnderTest>[] = [
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
    id: "removed-batches",
    promise: "a batch that was written before the removal is not remembered: sent again it answers `closed`",
    async run(make) {
      const { log } = await withFive(await make());
      await log.remove(sampleRef);
      expectSame(await log.append(sampleRef, { batchId: "b1", expectedSeq: 0, facts: noteFacts(5) }), { type: "closed" }, "the answer");
    },
  },
  {
    id: "removed-lease",
    promise: "the lease of a removed session is gone and cannot be renewed",
    async run(make) {
      const { log } = await withFive(await make());
      await log.claim(sampleRef, { node: "one", leaseMs: 15_000 });
      await log.remove(sampleRef);
      expectSame(await log.renew(sampleRef, { epoch: 1, leaseMs: 15_000 }), false, "the renewal");
      const { lastSeq, lease } = await log.head(sampleRef);
      expectSame({ lastSeq, lease }, { lastSeq: 0 }, "the head");
    },
  },
  {
    id: "removed-claim",
    promise: "no claim brings a removed session back",
    async run(make) {
      const { log } = await withFive(await make());
      await log.remove(sampleRef);
      const claimed = await log.claim(sampleRef, { node: "one", leaseMs: 15_000 }).catch(() => undefined);
      const epoch = claimed?.type === "claimed" ? { epoch: claimed.epoch } : {};
      expectSame(await log.append(sampleRef, noteBatch("b2", 0, epoch)), { type: "closed" }, "an append of the claimant");
      expectSame(await log.read(sampleRef), [], "facts");
    },
  },
  {
    id: "removed-twice",
    promise: "removing a session again, or one that never existed, does nothing",
    async run(make) {
      const { log } = await withFive(await make());
      await log.remove(sampleRef);
      await log.remove(sampleRef);
      await log.remove({ scope: "nobody", session: "nothing" });
      expectSame((await log.append(other, noteBatch("b1", 0))).type, "ok", "another session");
    },
  },
  {
    id: "closed-after-reopen",
    promise: "a closed session is closed after the store was closed and opened again",
    needs: ["reopen"],
    async run(make) {
      const subject = await make();
      await subject.log.append(sampleRef, { batchId: "end", expectedSeq: 0, facts: [{ type: "session.closed", at: sampleAt, v: 1 }] });
      const log = (await subject.reopen?.()) ?? subject.log;
      expectSame(await log.append(sampleRef, noteBatch("b1", 1)), { type: "closed" }, "the answer");
      expectSame(await titlesIn(log), ["session.closed"], "the log");
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

/** Most turns of the event loop in which a log is asked while its store closes. */
const lateTurnsMax = 500;

const lateCases: readonly StoreCase<LogUnderTest>[] = [
  {
    id: "late-calls",
    promise: "what is asked while the store closes gets its own answer or STORE_UNAVAILABLE, and the store opened next answers for itself",
    needs: ["reopen"],
    async run(make) {
      const subject = await withFive(await make());
      await subject.log.append(other, noteBatch("other", 0));
      const late: Promise<unknown>[] = [];
      const ask = (): void => {
        const read = subject.log.read(other).then(({ length }) => length);
        late.push(read.catch((error: unknown) => (isAgentError(error, "STORE_UNAVAILABLE") ? 1 : Promise.reject(error))));
        // Each is looked at below; until then none of them may count as unhandled.
        late.at(-1)?.catch(() => {});
      };
      ask();
      let isOpen = false;
      const opening = (async () => (await subject.reopen?.()) ?? subject.log)().finally(() => {
        isOpen = true;
      });
      for (let turn = 0; turn < lateTurnsMax && !isOpen; turn++) {
        ask();
        await Promise.resolve();
      }
      const log = await opening;
      const answers = await Promise.all([log.read(sampleRef), log.read(sampleRef), log.read(sampleRef)]);
      expectSame(
        answers.map(({ length }) => length),
        [5, 5, 5],
        "the facts that the store opened next reads",
      );
      for (const seen of await Promise.all(late)) expectSame(seen, 1, "facts read late");
    },
  },
];

/** Cases of reading, of separate sessions and scopes, of ends, and of reopening. */
export const lifeCases: readonly StoreCase<LogUnderTest>[] = [...readCases, ...endCases, ...lateCases];
