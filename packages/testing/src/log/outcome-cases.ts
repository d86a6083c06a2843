import type { SessionLog } from "@loopwright/core/ports";
import { expectSame, expectThat } from "../kit/kit.ts";
import type { StoreCase } from "../kit/store-case.ts";
import { noteBatch, noteFact, secondRef as other, sampleAt, sampleRef, titlesIn } from "../samples/sample-facts.ts";
import type { LogUnderTest } from "./log-under-test.ts";

const end = { batchId: "end", facts: [{ type: "session.closed", at: sampleAt, v: 1 }] } as const;

/** Two claims: epoch 1 is an old owner's, epoch 2 the newest. */
async function takeOver(log: SessionLog): Promise<void> {
  await log.claim(sampleRef, { node: "old", leaseMs: 15_000 });
  await log.release(sampleRef, 1);
  await log.claim(sampleRef, { node: "new", leaseMs: 15_000 });
}

const conflictCases: readonly StoreCase<LogUnderTest>[] = [
  {
    id: "conflict-behind",
    promise: "an append that has not seen the tail answers `conflict` with the tail and writes nothing",
    async run(make) {
      const { log } = await make();
      await log.append(sampleRef, noteBatch("b1", 0));
      expectSame(
        await log.append(sampleRef, { ...noteBatch("b2", 0), facts: [noteFact("b2"), noteFact("b2")] }),
        { type: "conflict", actualSeq: 1 },
        "the answer",
      );
      expectSame(await titlesIn(log), ["b1"], "the log");
    },
  },
  {
    id: "conflict-ahead",
    promise: "an append that expects more than there is answers `conflict` and leaves no gap",
    async run(make) {
      const { log } = await make();
      expectSame(await log.append(sampleRef, noteBatch("b1", 3)), { type: "conflict", actualSeq: 0 }, "the answer");
      expectSame(await titlesIn(log), [], "the log");
    },
  },
  {
    id: "conflict-forgets",
    promise: "the batch id of a refused append was not used: it may be written later",
    async run(make) {
      const { log } = await make();
      await log.append(sampleRef, noteBatch("b1", 7));
      expectSame(await log.append(sampleRef, noteBatch("b1", 0)), { type: "ok", lastSeq: 1 }, "the second try");
    },
  },
];

const dupCases: readonly StoreCase<LogUnderTest>[] = [
  {
    id: "dup",
    promise: "a batch sent again answers `dup` with its own last seq and is written once, also after others have written",
    async run(make) {
      const { log } = await make();
      await log.append(sampleRef, noteBatch("b1", 0));
      await log.append(sampleRef, noteBatch("b2", 1));
      expectSame(await log.append(sampleRef, noteBatch("b1", 0)), { type: "dup", lastSeq: 1 }, "the answer");
      expectSame(await titlesIn(log), ["b1", "b2"], "the log");
    },
  },
  {
    id: "dup-at-tail",
    promise: "a batch sent again at the new tail is still a duplicate",
    async run(make) {
      const { log } = await make();
      await log.append(sampleRef, noteBatch("b1", 0));
      expectSame(await log.append(sampleRef, noteBatch("b1", 1)), { type: "dup", lastSeq: 1 }, "the answer");
      expectSame(await titlesIn(log), ["b1"], "the log");
    },
  },
  {
    id: "dup-at-once",
    promise: "the same batch sent twice at once is written once",
    async run(make) {
      const { log } = await make();
      const outcomes = await Promise.all([log.append(sampleRef, noteBatch("b1", 0)), log.append(sampleRef, noteBatch("b1", 0))]);
      expectSame(outcomes.map(({ type }) => type).sort(), ["dup", "ok"], "outcomes");
    },
  },
  {
    id: "dup-of-many",
    promise: "the same batch sent ten times at once is written once, and all answers name the same last seq",
    async run(make) {
      const { log } = await make();
      const facts = [noteFact("one"), noteFact("two")];
      const sent = Array.from({ length: 10 }, () => log.append(sampleRef, { batchId: "b1", expectedSeq: 0, facts }));
      const answers = await Promise.all(sent);
      expectSame(new Set(answers.map((answer) => JSON.stringify({ ...answer, type: "" }))).size, 1, "different last seqs");
      expectSame(answers.filter(({ type }) => type === "ok").length, 1, "answers of type `ok`");
      expectSame(await titlesIn(log), ["one", "two"], "the log");
    },
  },
  {
    id: "dup-of-the-last",
    promise: "a batch sent again with other facts writes none of them",
    async run(make) {
      const { log } = await make();
      await log.append(sampleRef, noteBatch("b1", 0));
      const again = { ...noteBatch("b1", 1), facts: [noteFact("other")] };
      expectSame(await log.append(sampleRef, again), { type: "dup", lastSeq: 1 }, "the answer");
      expectSame(await titlesIn(log), ["b1"], "the log");
    },
  },
  {
    id: "dup-of-old",
    promise: "a batch id is remembered over hundreds of later batches",
    async run(make) {
      const { log } = await make();
      for (let seq = 0; seq < 300; seq++) await log.append(sampleRef, noteBatch(`b${seq}`, seq));
      expectSame(await log.append(sampleRef, noteBatch("b0", 300)), { type: "dup", lastSeq: 1 }, "the answer");
    },
  },
  {
    id: "dup-per-session",
    promise: "batch ids belong to a session: another session may use the same one",
    async run(make) {
      const { log } = await make();
      await log.append(sampleRef, noteBatch("b1", 0));
      expectSame(await log.append(other, noteBatch("b1", 0)), { type: "ok", lastSeq: 1 }, "the other session");
    },
  },
  {
    id: "dup-after-reopen",
    promise: "batch ids are remembered as long as the log",
    needs: ["reopen"],
    async run(make) {
      const subject = await make();
      await subject.log.append(sampleRef, noteBatch("b1", 0));
      const log = await subject.reopen?.();
      expectSame(await log?.append(sampleRef, noteBatch("b1", 1)), { type: "dup", lastSeq: 1 }, "the answer");
    },
  },
];

const fenceCases: readonly StoreCase<LogUnderTest>[] = [
  {
    id: "fenced",
    promise: "an owner with an old epoch answers `fenced` with the newest, and nothing is written",
    async run(make) {
      const { log } = await make();
      await takeOver(log);
      expectSame(await log.append(sampleRef, noteBatch("b1", 0, { epoch: 1 })), { type: "fenced", currentEpoch: 2 }, "the answer");
      expectSame(await titlesIn(log), [], "the log");
    },
  },
  {
    id: "never-given",
    promise: "an epoch that was never given is fenced",
    async run(make) {
      const { log } = await make();
      await takeOver(log);
      expectSame(await log.append(sampleRef, noteBatch("b1", 0, { epoch: 3 })), { type: "fenced", currentEpoch: 2 }, "the answer");
      expectSame(await titlesIn(log), [], "the log");
    },
  },
  {
    id: "owner-conflict",
    promise: "an owner that has missed a command answers `conflict`, not `fenced`, and writes after it has read",
    async run(make) {
      const { log } = await make();
      await takeOver(log);
      await log.append(sampleRef, noteBatch("command", 0));
      expectSame(await log.append(sampleRef, noteBatch("b1", 0, { epoch: 2 })), { type: "conflict", actualSeq: 1 }, "the answer");
      expectSame((await log.append(sampleRef, noteBatch("b1", 1, { epoch: 2 }))).type, "ok", "the second try");
    },
  },
  {
    id: "fenced-keeps-lease",
    promise: "a fenced append with `release` takes nothing from the new owner",
    async run(make) {
      const { log } = await make();
      await takeOver(log);
      await log.append(sampleRef, noteBatch("b1", 0, { epoch: 1, release: true }));
      expectSame((await log.head(sampleRef)).lease?.node, "new", "the owner");
    },
  },
  {
    id: "fence-race",
    promise: "what an old owner writes while another claims is in before the claim, which then counts it, or not at all",
    async run(make) {
      const { log } = await make();
      for (let round = 0; round < 5; round++) {
        const ref = { scope: "local", session: `s${round}` };
        await log.claim(ref, { node: "old", leaseMs: 15_000 });
        await log.release(ref, 1);
        const [written, claimed] = await Promise.all([
          log.append(ref, noteBatch("b1", 0, { epoch: 1 })),
          log.claim(ref, { node: "new", leaseMs: 15_000 }),
        ]);
        const seen = `${written.type}, ${claimed.type === "claimed" ? claimed.lastSeq : "held"}, ${(await log.head(ref)).lastSeq}`;
        expectThat(seen === "ok, 1, 1" || seen === "fenced, 0, 0", `append, the claimant's tail and the tail were: ${seen}`);
      }
    },
  },
  {
    id: "owner-writes",
    promise: "the owner with the newest epoch writes, also after it gave its lease back",
    async run(make) {
      const { log } = await make();
      await takeOver(log);
      expectSame((await log.append(sampleRef, noteBatch("b1", 0, { epoch: 2 }))).type, "ok", "with the lease");
      await log.release(sampleRef, 2);
      expectSame((await log.append(sampleRef, noteBatch("b2", 1, { epoch: 2 }))).type, "ok", "without");
    },
  },
  {
    id: "command-writes",
    promise: "a command without an epoch is written whichever node owns the session",
    async run(make) {
      const { log } = await make();
      await takeOver(log);
      expectSame((await log.append(sampleRef, noteBatch("b1", 0))).type, "ok", "the answer");
    },
  },
];

const orderCases: readonly StoreCase<LogUnderTest>[] = [
  {
    id: "fenced-before-dup",
    promise: "an old owner that sends a written batch again learns that it is fenced",
    async run(make) {
      const { log } = await make();
      await log.claim(sampleRef, { node: "old", leaseMs: 15_000 });
      await log.append(sampleRef, noteBatch("b1", 0, { epoch: 1, release: true }));
      await log.claim(sampleRef, { node: "new", leaseMs: 15_000 });
      expectSame(await log.append(sampleRef, noteBatch("b1", 0, { epoch: 1 })), { type: "fenced", currentEpoch: 2 }, "the answer");
    },
  },
  {
    id: "fenced-before-closed",
    promise: "an old owner learns that it is fenced before it learns that the session is closed",
    async run(make) {
      const { log } = await make();
      await takeOver(log);
      await log.append(sampleRef, { ...end, expectedSeq: 0 });
      expectSame((await log.append(sampleRef, noteBatch("b1", 1, { epoch: 1 }))).type, "fenced", "the answer");
    },
  },
  {
    id: "fenced-before-conflict",
    promise: "an old owner learns that it is fenced before it learns of a conflict",
    async run(make) {
      const { log } = await make();
      await takeOver(log);
      await log.append(sampleRef, noteBatch("b1", 0));
      expectSame((await log.append(sampleRef, noteBatch("b2", 0, { epoch: 1 }))).type, "fenced", "the answer");
    },
  },
  {
    id: "dup-before-closed",
    promise: "a batch sent again is a duplicate also when the session is closed by now",
    async run(make) {
      const { log } = await make();
      await log.append(sampleRef, noteBatch("b1", 0));
      await log.append(sampleRef, { ...end, expectedSeq: 1 });
      expectSame(await log.append(sampleRef, noteBatch("b1", 0)), { type: "dup", lastSeq: 1 }, "an earlier batch");
      expectSame(await log.append(sampleRef, { ...end, expectedSeq: 1 }), { type: "dup", lastSeq: 2 }, "the closing batch");
    },
  },
  {
    id: "closed",
    promise: "after `session.closed` nothing is written, and the log can still be read",
    async run(make) {
      const { log } = await make();
      await log.append(sampleRef, { ...end, expectedSeq: 0 });
      expectSame(await log.append(sampleRef, noteBatch("b1", 1)), { type: "closed" }, "the answer");
      expectSame(await titlesIn(log), ["session.closed"], "the log");
    },
  },
  {
    id: "closed-before-conflict",
    promise: "a late writer learns that the session is closed before it learns of a conflict",
    async run(make) {
      const { log } = await make();
      await log.append(sampleRef, { ...end, expectedSeq: 0 });
      expectSame(await log.append(sampleRef, noteBatch("b1", 0)), { type: "closed" }, "the answer");
    },
  },
];

/** What an append answers, and which of several answers wins. */
export const outcomeCases: readonly StoreCase<LogUnderTest>[] = [...conflictCases, ...dupCases, ...fenceCases, ...orderCases];
