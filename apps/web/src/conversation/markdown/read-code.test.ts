import fc from "fast-check";
import { expect, it } from "vitest";
import { fenceOf } from "./fence-of.ts";
import { createCodeReader } from "./read-code.ts";

const code = fc
  .array(fc.constantFrom("const a = 1;", "/* open", "closed */ b", "`text", "{x}`", '"str', "# note", "", "x.type(2)"), { maxLength: 120 })
  .map((lines) => lines.join("\n"));

it("no character is lost or added, whatever the language", () => {
  fc.assert(
    fc.property(code, fc.constantFrom("ts", "python", "sql", "html", "css", "", "constructor"), (text, language) => {
      const chunks = createCodeReader(language).read(text);
      expect(chunks.flatMap((chunk) => chunk.map((piece) => piece.text)).join("")).toBe(text);
    }),
  );
});

it("code that grows ends with the same chunks as the whole at once", () => {
  fc.assert(
    fc.property(code, fc.integer({ min: 1, max: 40 }), (text, size) => {
      const reader = createCodeReader("ts");
      for (let at = 0; at < text.length; at += size) reader.read(text.slice(0, at));
      expect(reader.read(text)).toEqual(createCodeReader("ts").read(text));
    }),
  );
});

it("lines that are done are the same object when more comes", () => {
  const lines = "const a = 1;\n".repeat(100);
  const reader = createCodeReader("ts");
  const before = reader.read(lines);
  expect(reader.read(`${lines}more`)[0]).toBe(before[0]);
});

it("keywords, strings, numbers, comments and calls have their kinds", () => {
  const kinds = createCodeReader("ts")
    .read('return fold("a", 0x10); // why')
    .flat()
    .flatMap(({ kind, text }) => (kind === undefined ? [] : [`${kind} ${text}`]));
  expect(kinds).toEqual(["keyword return", "name fold", 'string "a"', "number 0x10", "comment // why"]);
});

it("a member is no keyword", () => {
  expect(createCodeReader("ts").read("fact.type").flat()).toEqual([{ text: "fact.type" }]);
});

it("a fence gives its language and its code, without its marks and its margin", () => {
  expect(fenceOf("```ts title=x\na\n\nb\n```")).toEqual({ language: "ts", code: "a\n\nb" });
  expect(fenceOf("~~~\n```\n~~~~")).toEqual({ language: "", code: "```" });
  expect(fenceOf("  ```js\n  a\n    b")).toEqual({ language: "js", code: "a\n  b" });
  expect(fenceOf("```js")).toEqual({ language: "js", code: "" });
});
