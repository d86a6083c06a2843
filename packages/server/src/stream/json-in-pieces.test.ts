import { describe, expect, it } from "vitest";
import { isShortJson, jsonPieces, pieceSize } from "./json-in-pieces.ts";

const smile = "\u{1f600}";
/** Long enough to be taken apart: pairs that lie across every border, halves without their other one, escapes. */
const texts: readonly string[] = [
  "",
  "plain",
  smile.repeat(40_000),
  `a${smile.repeat(40_000)}`,
  "\ud83d".repeat(20_000),
  `${"x".repeat(8_191)}\ud83d${"y".repeat(9_000)}`,
  '\u0001"\\\n'.repeat(30_000),
  "語".repeat(50_000),
];
const scalars: readonly unknown[] = [null, true, 0, -0, 1.5e300, Number.NaN, ...texts];
const values: readonly unknown[] = [
  ...scalars,
  scalars,
  [],
  {},
  [undefined, texts[2]],
  { left: undefined, out: texts[2] },
  { only: undefined },
  Object.fromEntries(texts.map((text) => [text, { deep: [[texts], { [text]: scalars }] }])),
  Array.from({ length: 20_000 }, (_, at) => ({ at, text: `${at}`.repeat(3), more: [at] })),
];

describe("JSON in pieces", () => {
  it.each(values.map((value, at) => [at, value] as const))("is together what JSON.stringify writes: value %i", (_, value) => {
    expect([...jsonPieces(value)].join("") === JSON.stringify(value)).toBe(true);
  });

  it("has no piece much longer than 64 Ki characters, also of one long text that is all escapes", () => {
    const pieces = [...jsonPieces({ a: ["\u0001".repeat(1_000_000)], b: Array.from({ length: 50_000 }, (_, at) => ({ at })) })];
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(2 * pieceSize);
    expect(pieces.length).toBeGreaterThan(60);
  });

  it("is called short only where it is", () => {
    for (const value of values)
      for (const most of [0, 10, 1_000, 50_000, 1_000_000])
        if (isShortJson(value, most)) expect((JSON.stringify(value) ?? "").length).toBeLessThanOrEqual(most);
  });
});
