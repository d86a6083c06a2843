import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { withSettings } from "./write-setting-docs.mjs";

const page = readFileSync(new URL("../docs/operate.md", import.meta.url), "utf8");

test("the tables of docs/operate.md are those of the options of the command line", () => {
  expect(page, "run `node scripts/write-setting-docs.mjs`").toBe(withSettings(page));
  expect(page).toMatch(/^\| `server\.port` \| `--port <number>` \| `LOOPWRIGHT_PORT` \| /m);
});

test("a table is written anew, whatever stood in it", () => {
  const written = withSettings("A\n<!-- variables -->\nold\n<!-- /variables -->\nB\n");
  expect(written).toMatch(/^A\n<!-- variables -->\n\| variable \| \|\n\|---\|---\|\n/);
  expect(written).not.toContain("old");
});
