import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { serverVersion } from "./server-version.ts";

it("is the version of its package", async () => {
  const manifest = JSON.parse(await readFile(new URL("../package.json", import.meta.url), "utf8")) as { version: string };
  expect(serverVersion).toBe(manifest.version);
});
