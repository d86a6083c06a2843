import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { memoryStore } from "../../memory/store/memory-store.ts";
import { jsonBytes } from "../../message/json-bytes.ts";
import { appendLimits } from "../../ports/session-log.ts";
import { fitsBatch, fitsLog, restore, spill, spillBatch } from "./spill-large-values.ts";

const ref = { scope: "local", session: "s1" };
const factOf = (details: unknown, more: object = {}): object => ({
  type: "tool.finished",
  runId: "r1",
  callKey: "r1.1.0",
  outcome: "ok",
  output: [{ type: "text", text: "ok" }],
  ...more,
  details,
  at: 1,
  v: 1,
  seq: 7,
});

/** An object of many small members. */
const wide = (count: number, value: unknown = "x"): object => Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, value]));
const nested = (depth: number, value: unknown): unknown =>
  depth === 0 ? value : { a: nested(depth - 1, value), b: "beside ".repeat(2_000) };

async function throughStore(facts: readonly object[]): Promise<readonly object[]> {
  const { blobs } = memoryStore();
  const light = await spillBatch(facts, blobs, ref);
  for (const fact of light) expect(jsonBytes(fact)).toBeLessThanOrEqual(appendLimits.factBytes);
  expect(light.reduce((sum, fact) => sum + jsonBytes(fact), 0)).toBeLessThanOrEqual(appendLimits.batchBytes);
  const read: readonly object[] = JSON.parse(JSON.stringify(light));
  expect(JSON.stringify(await restore(read, blobs, ref))).toBe(JSON.stringify(facts));
  return light;
}

describe("a fact that is too large for the log", () => {
  const text = "t".repeat(40_000);
  it.each<readonly [string, object]>([
    ["one large value and 30,000 small ones", factOf({ big: text, ...wide(30_000) })],
    ["a long list of small values beside large ones", factOf({ list: [text, ...new Array<number>(200_000).fill(1), text] })],
    ["many large values in one list", factOf(new Array<string>(200).fill("y".repeat(33_000)))],
    ["more large values than their references fit beside the fact", factOf(new Array<string>(800).fill("z".repeat(33_000)))],
    ["sixty levels each with something beside the next", factOf(nested(60, text))],
    ["keys that are long themselves", factOf({ ["k".repeat(300_000)]: 1, more: { ["é".repeat(200_000)]: text } })],
    ["characters that take six bytes each", factOf("\u0001".repeat(80_000))],
    ["halves of characters", factOf(["\ud800".repeat(60_000)])],
    ["many fields each of which is small enough", factOf(null, wide(40, "w".repeat(20_000)))],
  ])("is within the limit without what is in the blob store, and whole again when read: %s", async (_, fact) => {
    expect(fitsLog(fact)).toBe(false);
    const [light] = await throughStore([fact]);
    expect(light).toHaveProperty("blobs");
    expect(light).toMatchObject({ type: "tool.finished", runId: "r1", callKey: "r1.1.0", outcome: "ok", at: 1, v: 1, seq: 7 });
  });

  it("keeps what is small around a large value, so that only that value leaves it", async () => {
    const parts = [
      { type: "text", text: "caption" },
      { type: "image", mediaType: "image/png", source: { data: "A".repeat(500_000) } },
    ];
    const light = await spill(factOf(null, { output: parts }), memoryStore().blobs, ref);
    expect(light).toMatchObject({
      output: [parts[0], { type: "image", source: { data: null } }],
      blobs: [{ path: ["output", 1, "source", "data"] }],
    });
  });
});

describe("a branch that is too large without its large parts", () => {
  it("leaves a fact as a whole, and what is around it stays", async () => {
    const value = { big: "t".repeat(40_000), ...wide(30_000) };
    const output = [
      { type: "text", text: "small" },
      { type: "json", value },
    ];
    const light = await spill(factOf(null, { output }), memoryStore().blobs, ref);
    expect(light).toMatchObject({ output: [output[0], { type: "json", value: null }], blobs: [{ path: ["output", 1, "value"] }] });
  });
});

describe("a batch that is too large for the log", () => {
  it("is within the limit where each of its facts is, and whole again when read", async () => {
    const results = Array.from({ length: 100 }, (_, n) => factOf({ n, text: String(n % 10).repeat(80_000) }, { seq: n }));
    expect(results.every(fitsLog)).toBe(true);
    expect(fitsBatch(results)).toBe(false);
    await throughStore(results);
  });

  it("of as many facts as an append takes is within the limit whatever is in them", async () => {
    await throughStore(Array.from({ length: appendLimits.facts }, (_, n) => factOf({ n, ...wide(600) }, wide(10, "v".repeat(400)))));
  });

  it("is left as it is where it is small", async () => {
    const facts = [factOf({ n: 1 }), factOf({ n: 2 })];
    expect(fitsBatch(facts)).toBe(true);
    expect(await spillBatch(facts, memoryStore().blobs, ref)).toBe(facts);
  });
});

describe("for any payload", () => {
  const long = (max: number): fc.Arbitrary<string> =>
    fc
      .tuple(fc.constantFrom("a", "é", "€", "😀", "\u0001", "\ud800", '"'), fc.nat(max))
      .map(([character, count]) => character.repeat(count));
  const leaf = fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constant(null), fc.string(), long(60_000));
  const repeated = (value: unknown, count: number, isList: boolean): unknown =>
    isList ? new Array(count).fill(value) : wide(count, value);
  const { tree } = fc.letrec<{ readonly tree: unknown }>((tie) => ({
    tree: fc.oneof(
      { depthSize: "medium", maxDepth: 6 },
      leaf,
      fc.array(tie("tree"), { maxLength: 5 }),
      fc.dictionary(fc.oneof(fc.string(), long(30_000)), tie("tree"), { maxKeys: 5 }).map((object) => ({ ...object })),
      fc.tuple(fc.oneof(fc.integer(), fc.string({ maxLength: 20 })), fc.nat(8_000), fc.boolean()).map((of) => repeated(...of)),
    ),
  }));

  it("the facts of a batch are within the limits, and whole again when read", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(tree, { minLength: 1, maxLength: 8 }), fc.integer({ min: 1, max: 2 }), async (payloads, times) => {
        const bodies = payloads.map((details, seq) => factOf(details, { seq }));
        await throughStore(Array.from({ length: times }, () => bodies).flat());
      }),
      { numRuns: 20 },
    );
  });
});
