// The bounds of core rise only with a row, and so with a reason, in the decision record that lists them.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

const read = (path) => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");

/** The rows of the table: what came, and the bounds after it. */
const rows = read("docs/decisions/0145-why-core-weighs-more.md")
  .split("\n")
  .filter((line) => /^\| (?!what came|---)/.test(line))
  .map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );

it("the last row of the record names the bounds of core, and each row a decision", () => {
  const { unpackedKb, codeLines, doorGzipKb } = JSON.parse(read("scripts/gates/budgets.json"))["@loopwright/core"];
  const [, unpacked, gzipped, lines] = rows.at(-1);
  expect([unpacked, gzipped, lines].map(Number)).toEqual([unpackedKb, doorGzipKb["."], codeLines]);
  for (const [what] of rows) expect(what).toMatch(/\b00?\d{2,3}\b/);
});
