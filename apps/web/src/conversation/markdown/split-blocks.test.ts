import fc from "fast-check";
import { Lexer } from "marked";
import { expect, it } from "vitest";
import { everyBlock, hostile } from "../../../test/harness/sample-text.ts";
import { headingLevels } from "./heading-levels.ts";
import { createBlockSplitter, splitBlocks } from "./split-blocks.ts";

const texts = (markdown: string): readonly string[] => splitBlocks(markdown).map(({ text }) => text);

/** Lines that meet each other in every way. */
const line = fc.constantFrom(
  "",
  "",
  " ",
  "text",
  "more **text** here",
  "- item",
  "  goes on",
  "    deep",
  "1. first",
  "   ```js",
  "```",
  "```ts title",
  "~~~",
  "````",
  "# Heading",
  "## Heading two",
  "#no heading",
  "> quote",
  "---",
  "| a | b |",
  "|---|---|",
  "[name]: https://example.org",
  "\tcode",
  "<div>",
);
const markdown = fc.array(line, { maxLength: 24 }).map((lines) => lines.join("\n"));

it("any chunking ends with the same blocks as the whole text at once", () => {
  fc.assert(
    fc.property(
      fc.oneof(markdown, fc.constant(everyBlock), fc.constant(hostile)),
      fc.infiniteStream(fc.integer({ min: 1, max: 9 })),
      (text, sizes) => {
        const splitter = createBlockSplitter();
        for (let at = 0; at < text.length; ) {
          at += sizes.next().value ?? 1;
          splitter.split(text.slice(0, at));
        }
        expect(splitter.split(text)).toEqual(splitBlocks(text));
      },
    ),
    { numRuns: 400 },
  );
});

it("blocks read one by one give the same as the whole text", () => {
  // What is defined elsewhere is handed to each block, and HTML is text here: neither counts. A fence in an item that its item leaves
  // open is read in two ways by the parser itself.
  const whole = markdown
    .filter((text) => !/\[name\]|<div>/.test(text))
    .map((text) => text.replaceAll("   ```js", "   ```js\n   code\n\n   ```"));
  fc.assert(
    fc.property(whole, (text) => {
      expect(texts(text).flatMap(tokensOf)).toEqual(tokensOf(text));
    }),
    { numRuns: 1500 },
  );
});

function tokensOf(text: string): readonly unknown[] {
  return new Lexer({ gfm: true })
    .lex(text)
    .filter((token) => token.type !== "space" && token.type !== "def")
    .map((token) => [token.type, "text" in token ? token.text.trim() : ""]);
}

it("a block that is followed by another is the same object when more comes", () => {
  const splitter = createBlockSplitter();
  const before = splitter.split("# One\n\nText that is done.\n\nText that");
  const after = splitter.split("# One\n\nText that is done.\n\nText that goes on.\n");
  expect(after[0]).toBe(before[0]);
  expect(after[1]?.text).toBe(before[1]?.text);
  const last = splitter.split("# One\n\nText that is done.\n\nText that goes on.\n\nAnd on.\n");
  expect(last[1]).toBe(after[1]);
});

it("a text that is replaced by another is read anew", () => {
  const splitter = createBlockSplitter();
  splitter.split("# One\n\ntwo");
  expect(splitter.split("three")).toEqual(splitBlocks("three"));
});

it("a fence holds blank lines, and ends a paragraph without one", () => {
  expect(texts("see\n```js\na\n\nb\n```\nafter")).toEqual(["see", "```js\na\n\nb\n```", "after"]);
});

it("a fence whose end is still to come is one block", () => {
  expect(splitBlocks("```js\na\n\nb")).toEqual([{ text: "```js\na\n\nb", isFence: true }]);
});

it("a list goes over blank lines, and ends where the margin is reached again", () => {
  expect(texts("- a\n\n- b\n\n  more\n\nafter")).toEqual(["- a\n\n- b\n\n  more", "after"]);
});

it("reading a long text by small pieces costs about as much as its length", () => {
  const text = "A paragraph of some length that is done.\n\n".repeat(2000);
  const splitter = createBlockSplitter();
  let fresh = 0;
  let before: readonly unknown[] = [];
  for (let at = 1000; at <= text.length; at += 1000) {
    const blocks = splitter.split(text.slice(0, at));
    fresh += blocks.filter((block, place) => block !== before[place]).length;
    before = blocks;
  }
  expect(fresh).toBeLessThan(2000 + (text.length / 1000) * 3);
});

it("headings never skip a level on the way down, whatever the author wrote", () => {
  const levels = (text: string): readonly (number | undefined)[] => headingLevels(splitBlocks(text));
  expect(levels("### a\n# b\n### c\n#### d\n## e\ntext")).toEqual([3, 3, 4, 5, 4, undefined]);
  expect(levels("```\n# no heading\n```")).toEqual([undefined]);
});
