import { expect, it } from "vitest";
import { excerptAround, matchTexts, searchWords } from "./search-text.ts";

const cases: readonly (readonly [string, readonly string[]])[] = [
  ["", []],
  [" - * \u0000 👍 ", []],
  ["Don't STOP-it", ["don", "t", "stop", "it"]],
  ["Crème e\u0301té ÅNGSTRÖM", ["creme", "ete", "angstrom"]],
  ["ﬁle №5 x²", ["file", "5", "x2"]],
  ["東京tower カナ", ["東", "京", "tower", "カ", "ナ"]],
  ["naïve_name snake_case", ["naive", "name", "snake", "case"]],
];
for (const [text, words] of cases)
  it(`the words of ${JSON.stringify(text)} are ${words.join(", ") || "none"}`, () => expect(searchWords(text)).toEqual(words));

it("splitting takes time in proportion to the text", () => {
  expect(searchWords(`${"a".repeat(200_000)} ${"́".repeat(200_000)}`)).toHaveLength(1);
});

it("an excerpt never begins or ends in half of a character", () => {
  for (let shift = 0; shift < 4; shift++) {
    const excerpt = excerptAround(`${"x".repeat(shift)}${"😀".repeat(200)} apple ${"😀".repeat(200)}`, ["apple"]);
    expect(() => encodeURIComponent(excerpt)).not.toThrow();
    expect(excerpt).toContain("apple");
    expect(excerpt.length).toBeLessThanOrEqual(200);
  }
});

it("an excerpt of a text without a match is its beginning, and of a short text all of it", () => {
  expect(excerptAround("one two", ["three"])).toBe("one two");
  expect(excerptAround("x ".repeat(300), ["three"])).toMatch(/^x x .*…$/);
});

it.each<[string, readonly string[], boolean]>([
  ["Two APPLES and a pear", ["apple", "pear"], true],
  ["Two apples", ["apple", "pear"], false],
  ["pineapple", ["apple"], false],
  ["snake_case", ["case"], true],
  ["CRÈME", ["creme"], true],
  ["\u212Aelvin", ["kelvin"], true],
  ["plain", ["\u6771"], false],
])("in %j the words %j are found: %s", (text, sought, isFound) => {
  // A text beside it that has none of them changes nothing but by its absence.
  expect([matchTexts([text], sought)?.text, matchTexts(["nothing here", text, "rien, déjà"], sought)?.text]).toEqual(
    isFound ? [text, text] : [undefined, undefined],
  );
});
