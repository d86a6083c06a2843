// Reads which rows the titles of tests name: `it("B12: ...")`, `describe("A38: ...")`, `D34-D36`, and `row: "B13"` or
// `["B08: ...", ...]` of a table.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { trackedFiles } from "./gates/tree.mjs";

/** What each row is about, by its id. */
export const rows = JSON.parse(readFileSync(new URL("coverage-rows.json", import.meta.url), "utf8"));

/** Test files, without the one whose titles are about the ids themselves. */
const isTestFile = (path) => /\.test\.(mjs|tsx?)$/.test(path) && !path.endsWith("write-coverage.test.mjs");
/** The first argument of `it`, `test` or `describe`, also behind `.each(...)`. */
const TITLES = [
  /\b(?:it|test|describe)(?:\.\w+)*\(\s*(["'`])((?:\\.|(?!\1).)*)\1/g,
  /\)\(\s*(["'`])((?:\\.|(?!\1).)*)\1,\s*(?:async\s*)?(?:\(|\w+\s*=>)/g,
  /(["'`])((?:[ABCDHKMPTX]\d{2,3},? ?)+:(?:\\.|(?!\1).)*)\1/g,
  /\brow: (["'`])([ABCDHKMPTX]\d{2,3})\1/g,
];
const RANGE = /\b([ABCDHKMPTX])(\d{2,3})(?:-\1?(\d{2,3}))?\b/g;

/** The ids of rows in a title. */
export function rowsOfTitle(title) {
  return [...title.matchAll(RANGE)].flatMap(([, letter, first, last = first]) => {
    const count = Math.max(0, Number(last) - Number(first)) + 1;
    return Array.from({ length: count }, (_, at) => `${letter}${String(Number(first) + at).padStart(first.length, "0")}`);
  });
}

/** The ids of rows that the titles in this source of a test name. */
export function rowsOfSource(text) {
  const found = new Set();
  for (const pattern of TITLES)
    for (const [, , title] of text.matchAll(pattern)) for (const id of rowsOfTitle(title)) if (id in rows) found.add(id);
  return [...found];
}

/** For each row the test files of the tree whose titles name it, sorted. */
export function coverage(root) {
  const files = Object.fromEntries(Object.keys(rows).map((id) => [id, []]));
  const tests = trackedFiles(root).filter(isTestFile).sort();
  for (const file of tests) for (const id of rowsOfSource(readFileSync(join(root, file), "utf8"))) files[id].push(file);
  return files;
}
