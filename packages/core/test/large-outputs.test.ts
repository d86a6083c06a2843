import { describe, expect, it } from "vitest";
import { createTextWindow } from "../src/driver/effects/filtered-text-window.ts";
import { collectOutput } from "../src/tools/collect-tool-output.ts";
import { headOf } from "../src/tools/cut-text.ts";
import { runFiltering } from "../src/tools/filter-inside-work.ts";
import { jsonHead } from "../src/tools/json-head.ts";
import { filteredBeyond, filterOutput, type NormalOutput, type TextFilter } from "../src/tools/normalise-output.ts";

describe("what is cut", () => {
  const secret = "s3cret-token";
  const apply = (text: string): string => text.replaceAll(secret, "[x]");
  const filter: TextFilter = { apply, window: () => createTextWindow(secret.length) };
  const filtered = (output: unknown, outputMax: number): NormalOutput =>
    runFiltering(filterOutput(output, outputMax, filter), apply) as NormalOutput;

  it("a filter sees a match whole that stands across the cut", () => {
    for (let before = 85; before <= 115; before++) {
      const text = `${"a".repeat(before)}${secret}${"b".repeat(filteredBeyond * 2)}`;
      for (const output of [text, [{ type: "text", text }], { value: text }])
        expect(JSON.stringify(filtered(output, 100))).not.toContain(secret.slice(0, 3));
    }
  });

  it("a match that the room for the filter ends in is not shown in half, however little the filter leaves", () => {
    const text = secret.repeat(Math.ceil((filteredBeyond * 3) / secret.length));
    const { parts = [] } = filtered(text, 100_000);
    expect(JSON.stringify(parts)).not.toContain("s3c");
    expect(JSON.stringify(parts.at(-1))).toMatch(/output cut: \d+ of \d+ characters left out/);
  });

  it("of a delta is not followed by a later one", async () => {
    const deltas = ["x".repeat(filteredBeyond * 3), "later"];
    const seen: string[] = [];
    const { output } = await collectOutput(
      (async function* () {
        yield* deltas;
      })(),
      { name: "t", outputMax: 100, onDelta: (delta) => seen.push(delta) },
    );
    expect(seen.join("")).toBe("x".repeat(100));
    const total = filteredBeyond * 3 + "later".length;
    expect(output.at(-1)).toEqual({ type: "text", text: `[output cut: ${total - 100} of ${total} characters left out]` });
  });

  it("parts no character", () => {
    expect(headOf("ab\u{1f600}", 3)).toBe("ab");
    expect(headOf("ab\u{1f600}", 4)).toBe("ab\u{1f600}");
  });
});

describe("the beginning of a JSON text", () => {
  const big = {
    n: [1, null, true, 'quote " and \\ and \n'],
    text: `\u{1f600}${"é\u0001".repeat(1_000_000)}`,
    "key\n": { empty: {}, list: [] },
  };

  it.each([0, 1, 10, 100, 100_000])("has %i characters of what `JSON.stringify` gives, and the length of all of it", (max) => {
    const whole = JSON.stringify(big);
    const head = jsonHead(big, max);
    expect(head.length).toBe(whole.length);
    expect(whole.startsWith(head.text)).toBe(true);
    expect(max - head.text.length).toBeLessThanOrEqual(1);
  });

  it("is all of a short one", () => {
    expect(jsonHead({ a: [1, 2] }, 100)).toEqual({ text: '{"a":[1,2]}', length: 11 });
  });
});
