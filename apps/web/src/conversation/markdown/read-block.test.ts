import { expect, it } from "vitest";
import { blockCharactersMax, bracketsMax, lexBlock } from "./lex-block.ts";
import { noLinks } from "./link-definitions.ts";
import { type ReadBlock, readBlock } from "./read-block.ts";

/** A clock that advances by so much at each call. */
function ticking(tickMs: number): () => number {
  let nowMs = 0;
  return () => {
    nowMs += tickMs;
    return nowMs;
  };
}

const read = (text: string, before?: ReadBlock, tickMs = 1): ReadBlock =>
  readBlock({ text, isOpen: true, links: noLinks, before, now: ticking(tickMs) });

it("a block is read again when it grows", () => {
  const before = read("some");
  expect(read("some words", before)).toMatchObject({ text: "some words", rest: "" });
  expect(read("some", before)).toBe(before);
});

it("a block that takes long is read again only after it has grown by a tenth; until then its end is plain", () => {
  const before = read("x".repeat(100), undefined, 20);
  const soon = read(`${"x".repeat(100)} y`, before, 20);
  expect(soon).toMatchObject({ rest: " y", tokens: before.tokens });
  expect(read("x".repeat(111), soon, 20)).toMatchObject({ rest: "", text: "x".repeat(111) });
});

it("a block that is done is read whole, however long that takes", () => {
  const before = read("x".repeat(100), undefined, 20);
  expect(readBlock({ text: "x".repeat(101), isOpen: false, links: noLinks, before }).rest).toBe("");
});

it("a block that is too long or too dense is not read", () => {
  expect(lexBlock("x".repeat(blockCharactersMax), noLinks)).toBeDefined();
  expect(lexBlock("x".repeat(blockCharactersMax + 1), noLinks)).toBeUndefined();
  expect(lexBlock("[".repeat(bracketsMax), noLinks)).toBeDefined();
  expect(lexBlock("[".repeat(bracketsMax + 1), noLinks)).toBeUndefined();
});
