import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const build = (...args) =>
  spawnSync(process.execPath, [join(root, "scripts/build-packages.mjs"), ...args], { cwd: root, encoding: "utf8" });

it("leaves a package as it is while nothing that its build reads has changed", () => {
  expect(build("packages/prices").status).toBe(0);
  const before = statSync(join(root, "packages/prices/dist/index.js")).mtimeMs;
  expect(build("packages/prices").status).toBe(0);
  expect(statSync(join(root, "packages/prices/dist/index.js")).mtimeMs).toBe(before);
});

it("names a folder that has no package to build, and ends with 2", () => {
  const { status, stderr } = build("packages/prices", "packages/nowhere");
  expect(status).toBe(2);
  expect(stderr).toBe("No package with a build in packages/nowhere.\n");
});
