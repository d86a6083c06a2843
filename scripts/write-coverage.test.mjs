import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { coverage, rows, rowsOfSource, rowsOfTitle } from "./coverage-rows.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const page = readFileSync(new URL("../docs/coverage.md", import.meta.url), "utf8");
/** `[id, files]` of each line of the tables. */
const listed = [...page.matchAll(/^\| ([A-Z]\d+) \|.*\| (.*) \|$/gm)].map(([, id, links]) => [
  id,
  [...links.matchAll(/\]\(\.\.\/([^)]+)\)/g)].map(([, file]) => file),
]);

describe("docs/coverage.md", () => {
  test("has a line for every row", () => {
    expect(listed.map(([id]) => id)).toEqual(Object.keys(rows));
  });

  test("lists only files that have a test of the row: else run `node scripts/write-coverage.mjs`", () => {
    const now = coverage(root);
    expect(listed.flatMap(([id, files]) => files.filter((file) => !now[id].includes(file)).map((file) => `${id}: ${file}`))).toEqual([]);
  });
});

describe("the payloads of security tests", () => {
  test("each have a test", () => {
    const files = coverage(root);
    const payloads = Object.keys(rows).filter((id) => /^[THKPXM]/.test(id));
    expect(payloads).toHaveLength(60);
    expect(payloads.filter((id) => files[id].length === 0)).toEqual([]);
  });
});

describe("the rows of a title", () => {
  test.each([
    { title: "B12: registers a tool", ids: ["B12"] },
    { title: "streams a long file (D59)", ids: ["D59"] },
    { title: "D12, D34-D36: by the provider", ids: ["D12", "D34", "D35", "D36"] },
    { title: "has no row, not even AB12, B1 or B12x", ids: [] },
  ])("$title", ({ title, ids }) => {
    expect(rowsOfTitle(title)).toEqual(ids);
  });

  test("are read from tests, groups of tests and tables, and not from other text", () => {
    const source = [
      `it("B10: overlaps", async () => {});`,
      "describe.each([1])(`B11: by plan`, () => {});",
      `it.each([{ row: "B13" }])("$row: modes", ({ row }) => {});`,
      `it.each([["B17: first", 1]])("%s", () => {});`,
      `// B14 is a comment\nconst text = "B15";`,
    ].join("\n");
    expect(rowsOfSource(source).sort()).toEqual(["B10", "B11", "B13", "B17"]);
  });
});
