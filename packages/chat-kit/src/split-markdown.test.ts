import { describe, expect, it } from "vitest";
import { splitMarkdown } from "./split-markdown.ts";

/** Numbers below a bound, the same in each run. */
function numbers(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state % bound;
  };
}

const bits = ["word ", "**bold** ", "\n", "\n\n", "```ts\n", "```\n", "~~~\n", "# title\n", "- item\n", "😀", "x".repeat(70), "`code` "];

describe("splitMarkdown", () => {
  it("gives no piece that is empty or too long, cuts no character, closes each block of code, and loses no word", () => {
    const next = numbers(7);
    for (let round = 0; round < 300; round++) {
      const text = Array.from({ length: next(60) }, () => bits[next(bits.length)]).join("");
      const limit = 40 + next(200);
      const pieces = splitMarkdown(text, limit);
      for (const piece of pieces) {
        expect(piece.length).toBeLessThanOrEqual(limit);
        expect(piece.trim()).not.toBe("");
        expect(piece.isWellFormed()).toBe(true);
      }
      const lettersOf = (one: string): string => one.replace(/[^wordbolxiaetmc😀]/gu, "").replaceAll("ts", "");
      const withoutFences = (one: string): string => one.replace(/^(```|~~~).*$/gm, "");
      expect(lettersOf(withoutFences(pieces.join("\n")))).toBe(lettersOf(withoutFences(text)));
    }
  });

  it("opens a block of code again in the next piece, and cuts between paragraphs where it can", () => {
    const code = `\`\`\`js\n${"line();\n".repeat(10)}\`\`\``;
    const [first = "", ...more] = splitMarkdown(code, 60);
    expect(first).toMatch(/^```js\n[\s\S]+\n```$/);
    for (const piece of more) expect(piece).toMatch(/^```js\n[\s\S]*\n```$/);
    const paragraphs = `${"a ".repeat(20).trim()}\n\n${"b ".repeat(20).trim()}`;
    expect(splitMarkdown(paragraphs, 60)).toEqual(["a ".repeat(20).trim(), "b ".repeat(20).trim()]);
    expect(splitMarkdown("  \n\n", 60)).toEqual([]);
  });
});
