import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { pages, withTables } from "./write-option-docs.mjs";

const read = (page) => readFileSync(new URL(`../${page}`, import.meta.url), "utf8");

test.each(pages)("the tables of %s are those of the docstrings", (page) => {
  expect(read(page), "run `node scripts/write-option-docs.mjs`").toBe(withTables(read(page)));
});

test("the pages on agents, tools and tests have tables", () => {
  expect(pages).toEqual(expect.arrayContaining(["docs/agents.md", "docs/testing.md", "docs/tools.md"]));
});

test("a table is written anew from the interface, whatever stood in it", () => {
  const page = "Before.\n\n<!-- options: Tool -->\nold\n<!-- /options -->\n\nAfter.\n";
  const written = withTables(page);
  expect(written).toMatch(/^Before\.\n\n<!-- options: Tool -->\n\| name \| type \| meaning \|\n/);
  expect(written).toMatch(/^\| `outputMax` \| `number` \| .*Default 100,000\. \|$/m);
  expect(written).toMatch(/^\| `name` \(required\) \| /m);
  expect(written).not.toContain("old");
  expect(withTables(written)).toBe(written);
});

test("an interface that is not there is an error, not an empty table", () => {
  expect(() => withTables("<!-- options: NoSuchInterface -->\n<!-- /options -->")).toThrow("0 exported interfaces");
});
