import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { errorTable } from "../packages/core/src/error-table.ts";
import { errorDocs } from "./write-error-docs.mjs";

const page = readFileSync(new URL("../docs/errors.md", import.meta.url), "utf8");

test("docs/errors.md is what core's table gives", () => {
  expect(page, "run `node scripts/write-error-docs.mjs`").toBe(errorDocs());
});

test("every code has the anchor that problem documents lead to", () => {
  const anchors = [...page.matchAll(/^### (.+)$/gm)].map(([, heading]) => heading.toLowerCase());
  expect(anchors).toEqual(Object.keys(errorTable).map((code) => code.toLowerCase()));
  expect(new Set(anchors).size).toBe(anchors.length);
});
