import type { FactDraft } from "@loopwright/core";
import { appendLimits } from "@loopwright/core/ports";
import { expectSame, expectThat } from "../kit/kit.ts";
import type { StoreCase } from "../kit/store-case.ts";
import { expectCode } from "../kit/store-expectation.ts";
import { noteBatch, noteFact, noteFacts, sampleAt, sampleRef } from "../samples/sample-facts.ts";
import type { LogUnderTest } from "./log-under-test.ts";

/** Reads all back without the numbers. */
async function written({ log }: LogUnderTest): Promise<readonly unknown[]> {
  return (await log.read(sampleRef)).map(({ seq: _seq, ...draft }) => draft);
}

async function keeps(subject: LogUnderTest, facts: readonly FactDraft[]): Promise<void> {
  expectSame(
    await subject.log.append(sampleRef, { batchId: "b1", expectedSeq: 0, facts }),
    { type: "ok", lastSeq: facts.length },
    "the answer",
  );
  expectSame(await written(subject), facts, "what is read back");
}

/** How facts are written and kept. */
export const appendCases: readonly StoreCase<LogUnderTest>[] = [
  {
    id: "first-seq",
    promise: "the first fact of a session gets seq 1",
    async run(make) {
      const { log } = await make();
      expectSame(await log.append(sampleRef, noteBatch("b1", 0)), { type: "ok", lastSeq: 1 }, "the answer");
      expectSame((await log.read(sampleRef))[0]?.seq, 1, "seq");
    },
  },
  {
    id: "gap-free",
    promise: "facts are numbered 1, 2, 3, ... without gap over batches, in the order of the batches",
    async run(make) {
      const { log } = await make();
      await log.append(sampleRef, { batchId: "b1", expectedSeq: 0, facts: noteFacts(3, "a") });
      expectSame(
        await log.append(sampleRef, { batchId: "b2", expectedSeq: 3, facts: noteFacts(2, "b") }),
        { type: "ok", lastSeq: 5 },
        "the answer",
      );
      const facts = await log.read(sampleRef);
      expectSame(
        facts.map((fact) => [fact.seq, "title" in fact && fact.title]),
        [
          [1, "a 1"],
          [2, "a 2"],
          [3, "a 3"],
          [4, "b 1"],
          [5, "b 2"],
        ],
        "numbers and titles",
      );
    },
  },
  {
    id: "full-batch",
    promise: `a batch of ${appendLimits.facts} facts is written whole`,
    async run(make) {
      await keeps(await make(), noteFacts(appendLimits.facts));
    },
  },
  {
    id: "large-fact",
    promise: "a fact of 256 KiB is kept unchanged",
    async run(make) {
      await keeps(await make(), [noteFact("x".repeat(appendLimits.factBytes - 200))]);
    },
  },
  {
    id: "large-batch",
    promise: "a batch of 1 MiB is kept unchanged",
    async run(make) {
      await keeps(
        await make(),
        Array.from({ length: 8 }, (_, index) => noteFact(String(index).repeat(appendLimits.batchBytes / 8 - 200))),
      );
    },
  },
  {
    id: "no-empty-batch",
    promise: "a batch without facts is refused with INPUT_INVALID, and nothing is written",
    async run(make) {
      const { log } = await make();
      await expectCode("INPUT_INVALID", log.append(sampleRef, { batchId: "b1", expectedSeq: 0, facts: [] }));
      expectSame((await log.head(sampleRef)).lastSeq, 0, "the tail");
    },
  },
  {
    id: "no-oversized-batch",
    promise: `a batch of ${appendLimits.facts + 1} facts is refused with INPUT_INVALID, and nothing is written`,
    async run(make) {
      const { log } = await make();
      await expectCode("INPUT_INVALID", log.append(sampleRef, { batchId: "b1", expectedSeq: 0, facts: noteFacts(appendLimits.facts + 1) }));
      expectSame((await log.head(sampleRef)).lastSeq, 0, "the tail");
    },
  },
  {
    id: "no-oversized-fact",
    promise: "a fact of more than 256 KiB, counted in bytes of JSON, is refused with INPUT_INVALID, and nothing of its batch is written",
    async run(make) {
      const { log } = await make();
      const { factBytes } = appendLimits;
      for (const title of ["x".repeat(factBytes), "é".repeat(factBytes / 2), "\u0001".repeat(factBytes / 6)])
        await expectCode(
          "INPUT_INVALID",
          log.append(sampleRef, { batchId: "b1", expectedSeq: 0, facts: [noteFact("small"), noteFact(title)] }),
        );
      expectSame((await log.head(sampleRef)).lastSeq, 0, "the tail");
    },
  },
  {
    id: "no-oversized-sum",
    promise: "a batch of more than 1 MiB is refused with INPUT_INVALID however small its facts are, and nothing is written",
    async run(make) {
      const { log } = await make();
      const facts = Array.from({ length: 8 }, (_, index) => noteFact(String(index).repeat(appendLimits.batchBytes / 8)));
      await expectCode("INPUT_INVALID", log.append(sampleRef, { batchId: "b1", expectedSeq: 0, facts }));
      expectSame((await log.head(sampleRef)).lastSeq, 0, "the tail");
    },
  },
  {
    id: "unicode",
    promise: "text of every kind is kept: emoji, combining marks, right to left, control characters, line separators",
    async run(make) {
      await keeps(await make(), [noteFact("👩‍👩‍👧 e\u0301 é שלום ﷽ \u0000 \u0007 \u2028 \u2029 \uFEFF ' \" \\ \r\n 𝄞 \uFFFF")]);
    },
  },
  {
    id: "json-values",
    promise: "values are kept as they are: null, fractions, large numbers, empty containers, deep nesting",
    async run(make) {
      const deep = JSON.parse(`${"[".repeat(60)}1${"]".repeat(60)}`);
      const metadata = { nothing: null, fraction: 0.1, large: 1e21, whole: 9_007_199_254_740_991, no: false, list: [], object: {}, deep };
      await keeps(await make(), [{ type: "session.changed", metadata, at: sampleAt, v: 1 }]);
    },
  },
  {
    id: "unknown-fields",
    promise: "fields and types that this version does not know are kept",
    async run(make) {
      // What a newer version would write: only reading it as JSON gets it past the type.
      const newer: FactDraft = JSON.parse(`{"type":"session.dreamt","at":${sampleAt},"v":99,"dream":{"of":["sheep"]}}`);
      await keeps(await make(), [newer, { ...noteFact("known"), ...JSON.parse('{"mood":"calm"}') }]);
    },
  },
  {
    id: "stamps",
    promise: "`at`, `v` and `epoch` of a fact are the writer's, never the store's",
    async run(make) {
      await keeps(await make(), [{ ...noteFact("old", 5), v: 7, epoch: 3 }]);
    },
  },
  {
    id: "own-numbers",
    promise: "a wrong seq on a draft does not count, and the caller's objects are not changed",
    async run(make) {
      const { log } = await make();
      const draft = { ...noteFact("numbered"), seq: 41 };
      await log.append(sampleRef, { batchId: "b1", expectedSeq: 0, facts: [draft, draft] });
      expectSame(
        (await log.read(sampleRef)).map(({ seq }) => seq),
        [1, 2],
        "numbers",
      );
      expectSame(draft.seq, 41, "the caller's object");
    },
  },
  {
    id: "one-of-two",
    promise: "of two appends at once after the same fact exactly one is written",
    async run(make) {
      const { log } = await make();
      const outcomes = await Promise.all([log.append(sampleRef, noteBatch("b1", 0)), log.append(sampleRef, noteBatch("b2", 0))]);
      expectSame(outcomes.map(({ type }) => type).sort(), ["conflict", "ok"], "outcomes");
      expectSame((await log.read(sampleRef)).length, 1, "facts");
    },
  },
  {
    id: "many-writers",
    promise: "50 writers that try again after each conflict all get in, without gap and each once",
    async run(make) {
      const { log } = await make();
      const writers = Array.from({ length: 50 }, async (_, writer) => {
        for (let seq = 0, attempt = 0; ; attempt++) {
          const outcome = await log.append(sampleRef, noteBatch(`writer ${writer} try ${attempt}`, seq));
          if (outcome.type === "ok") return;
          expectThat(outcome.type === "conflict" && attempt < 100, `writer ${writer} got ${outcome.type} at try ${attempt}`);
          seq = outcome.actualSeq;
        }
      });
      await Promise.all(writers);
      const facts = await log.read(sampleRef);
      expectSame(
        facts.map(({ seq }) => seq),
        Array.from({ length: 50 }, (_, index) => index + 1),
        "numbers",
      );
      expectSame(new Set(facts.map((fact) => "title" in fact && String(fact.title).split(" try")[0])).size, 50, "writers seen");
    },
  },
  {
    id: "many-sessions",
    promise: "appends to many sessions at once do not disturb one another",
    async run(make) {
      const { log } = await make();
      const refs = Array.from({ length: 50 }, (_, index) => ({ scope: "local", session: `s${index}` }));
      await Promise.all(refs.map((ref) => log.append(ref, { batchId: "b", expectedSeq: 0, facts: noteFacts(2, ref.session) })));
      for (const ref of refs)
        expectSame(
          (await log.read(ref)).map((fact) => "title" in fact && fact.title),
          [`${ref.session} 1`, `${ref.session} 2`],
          ref.session,
        );
    },
  },
];
