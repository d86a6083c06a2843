import type { FactDraft, JsonObject } from "@loopwright/core";
import { refKey } from "@loopwright/core/ports";
import { expectSame, expectThat } from "../kit/kit.ts";
import type { StoreCase } from "../kit/store-case.ts";
import { noteBatch, noteFact, sampleAt, sampleRef, secondRef, titlesIn } from "../samples/sample-facts.ts";
import type { LogUnderTest } from "./log-under-test.ts";

/** A fact with any JSON in it. */
function holding(text: string): FactDraft {
  const metadata: JsonObject = JSON.parse(text);
  return { type: "session.changed", metadata, at: sampleAt, v: 1 };
}

async function metadataAfter(make: () => Promise<LogUnderTest>, draft: FactDraft): Promise<unknown> {
  const { log } = await make();
  expectSame((await log.append(sampleRef, { batchId: "b1", expectedSeq: 0, facts: [draft] })).type, "ok", "the answer");
  const [fact] = await log.read(sampleRef);
  return fact && "metadata" in fact ? fact.metadata : undefined;
}

const valueCases: readonly StoreCase<LogUnderTest>[] = [
  {
    id: "surrogates",
    promise: "half a character is kept or replaced by U+FFFD, and nothing beside it is lost",
    async run(make) {
      const { log } = await make();
      await log.append(sampleRef, { batchId: "b1", expectedSeq: 0, facts: [noteFact("a\uD83D b \uDE00c 😀")] });
      const title = String((await titlesIn(log))[0]).replace(/\p{Surrogate}/gu, "\uFFFD");
      expectSame(title, "a\uFFFD b \uFFFDc 😀", "the title");
    },
  },
  {
    id: "long-unicode",
    promise: "long text of characters of three and four bytes is kept unchanged",
    async run(make) {
      const { log } = await make();
      const title = `.${"€𝄞".repeat(30_000)}`;
      await log.append(sampleRef, { batchId: "b1", expectedSeq: 0, facts: [noteFact(title)] });
      expectThat((await titlesIn(log))[0] === title, "the title was changed");
    },
  },
  {
    id: "depth",
    promise: "values nested 64 deep are kept",
    async run(make) {
      const text = `${`{"a":`.repeat(62)}1${"}".repeat(62)}`;
      expectSame(await metadataAfter(make, holding(text)), JSON.parse(text), "the value");
    },
  },
  {
    id: "proto-key",
    promise: "a key `__proto__` is data: it is kept and changes no prototype",
    async run(make) {
      const text = '{"__proto__":{"isAdmin":true},"a":{"constructor":1,"__proto__":2}}';
      const value = await metadataAfter(make, holding(text));
      expectThat(typeof value === "object" && value !== null && !("isAdmin" in Object.create(value)), "the prototype was changed");
      expectSame(JSON.stringify(value), text, "the value");
    },
  },
  {
    id: "odd-keys",
    promise: "keys of every kind are kept: empty, with dots and quotes, numbers, long ones",
    async run(make) {
      const text = JSON.stringify({ "": 1, "a.b": 2, $c: 3, 'd"': 4, "5": 5, "é ": 6, [`k${"x".repeat(2_000)}`]: 7 });
      expectSame(await metadataAfter(make, holding(text)), JSON.parse(text), "the value");
    },
  },
  {
    id: "equal-facts",
    promise: "facts that give the same are facts each: in one batch, and in two batches with ids of their own",
    async run(make) {
      const { log } = await make();
      const facts = [noteFact("same"), noteFact("same")];
      await log.append(sampleRef, { batchId: "b1", expectedSeq: 0, facts });
      expectSame(await log.append(sampleRef, { batchId: "b2", expectedSeq: 2, facts }), { type: "ok", lastSeq: 4 }, "the second answer");
      expectSame(await titlesIn(log), ["same", "same", "same", "same"], "the log");
    },
  },
  {
    id: "unchanged",
    promise: "what was written once reads the same for ever, whatever is appended",
    async run(make) {
      const { log } = await make();
      await log.append(sampleRef, noteBatch("b1", 0));
      const before = JSON.stringify(await log.read(sampleRef, { limit: 1 }));
      for (let seq = 1; seq < 5; seq++) await log.append(sampleRef, noteBatch(`b${seq + 1}`, seq));
      expectSame(JSON.stringify(await log.read(sampleRef, { limit: 1 })), before, "the first fact");
    },
  },
  {
    id: "whole-batches",
    promise: "a caller that reads while others write sees batches whole or not at all",
    async run(make) {
      const { log } = await make();
      let isWriting = true;
      const writing = (async () => {
        for (let batch = 0; batch < 15; batch++)
          await log.append(sampleRef, {
            batchId: `b${batch}`,
            expectedSeq: batch * 3,
            facts: [1, 2, 3].map((each) => noteFact(`${each}`)),
          });
      })().finally(() => {
        isWriting = false;
      });
      do {
        const { length } = await log.read(sampleRef);
        expectThat(length % 3 === 0, `${length} facts of batches of three were read`);
      } while (isWriting);
      await writing;
    },
  },
];

const namingCases: readonly StoreCase<LogUnderTest>[] = [
  {
    id: "batch-ids",
    promise: "a batch id is any text, and not a part of it",
    async run(make) {
      const { log } = await make();
      const ids = ["__proto__", "constructor", "a:b", "a", "A", "a ", "é", "x".repeat(200), `${"x".repeat(199)}y`];
      for (const [seq, id] of ids.entries())
        expectSame((await log.append(sampleRef, noteBatch(id, seq))).type, "ok", `the answer to \`${id.slice(0, 20)}\``);
      for (const [seq, id] of ids.entries())
        expectSame(await log.append(sampleRef, noteBatch(id, 0)), { type: "dup", lastSeq: seq + 1 }, `\`${id.slice(0, 20)}\` again`);
    },
  },
  {
    id: "joined-ids",
    promise: "scopes and sessions whose ids run into one another are apart",
    async run(make) {
      const { log } = await make();
      const refs = [
        ["a", "b-c"],
        ["a-b", "c"],
        ["a_b", "c"],
        ["a", "b_c"],
        ["ab", "c"],
        ["a", "bc"],
      ] as const;
      for (const [scope, session] of refs)
        expectSame(
          await log.append({ scope, session }, noteBatch(refKey({ scope, session }), 0)),
          { type: "ok", lastSeq: 1 },
          refKey({ scope, session }),
        );
      for (const [scope, session] of refs) expectSame(await titlesIn(log, { scope, session }), [refKey({ scope, session })], "the log");
    },
  },
  {
    id: "prefix-ids",
    promise: "a session whose id is the beginning of another's is removed alone",
    async run(make) {
      const { log } = await make();
      const refs = ["first-2", "first2", "first_", "fir"].map((session) => ({ ...sampleRef, session }));
      for (const ref of [sampleRef, ...refs]) await log.append(ref, noteBatch("b1", 0));
      await log.remove(sampleRef);
      for (const ref of refs) expectSame(await titlesIn(log, ref), ["b1"], ref.session);
    },
  },
  {
    id: "long-ids",
    promise: "ids of 64 characters are taken, and distinguished by their last one",
    async run(make) {
      const { log } = await make();
      const refs = ["a", "b"].map((end) => ({ scope: `s${"-".repeat(62)}s`, session: `${"0".repeat(63)}${end}` }));
      for (const ref of refs) expectSame(await log.append(ref, noteBatch("b1", 0)), { type: "ok", lastSeq: 1 }, ref.session);
    },
  },
  {
    id: "reads-make-nothing",
    promise: "asking for a session does not make it: a first append still expects 0, and a second node may claim",
    async run(make) {
      const { log } = await make();
      await log.read(secondRef);
      await log.head(secondRef);
      await log.renew(secondRef, { epoch: 1, leaseMs: 1_000 });
      await log.release(secondRef, 1);
      expectSame(await log.head(secondRef), { lastSeq: 0, epoch: 0 }, "the head");
      expectSame(await log.append(secondRef, noteBatch("b1", 0)), { type: "ok", lastSeq: 1 }, "the first append");
    },
  },
];

/** What facts and ids may be. */
export const contentCases: readonly StoreCase<LogUnderTest>[] = [...valueCases, ...namingCases];
