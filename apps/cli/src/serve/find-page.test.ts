import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { findPage } from "./find-page.ts";

test("a built page is found, one that is not built or not installed is an error with what to do", async () => {
  const folder = await mkdtemp(join(tmpdir(), "loopwright-page-"));
  const manifest = (): string => pathToFileURL(join(folder, "package.json")).href;
  expect(findPage(manifest)).toEqual({ missing: expect.stringContaining("npm run build") });
  await mkdir(join(folder, "dist"));
  await writeFile(join(folder, "dist/index.html"), "<!doctype html>");
  expect(findPage(manifest)).toEqual({ directory: join(folder, "dist/") });
  const missing = findPage(() => {
    throw new Error("not installed");
  });
  expect(missing).toEqual({ missing: expect.stringContaining("@loopwright/web") });
});
