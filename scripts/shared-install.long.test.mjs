import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { installShared } from "./gates/shared-install.mjs";
import { tool } from "./gates/tree.mjs";

const parent = mkdtempSync(join(tmpdir(), "loopwright-shared-install-"));
afterAll(() => rmSync(parent, { recursive: true, force: true }));

/** Path of a tarball of the package `made` that holds this code and a command. */
function tarball(name, code) {
  const folder = join(parent, name);
  mkdirSync(join(folder, "package"), { recursive: true });
  const manifest = { name: "made", version: "1.0.0", type: "module", exports: "./index.js", bin: { made: "./index.js" } };
  writeFileSync(join(folder, "package", "package.json"), JSON.stringify(manifest));
  writeFileSync(join(folder, "package", "index.js"), code);
  tool("tar", ["-czf", "made.tgz", "package"], folder);
  return join(folder, "made.tgz");
}

function installed(name, packed) {
  const folder = join(parent, name);
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
  expect(installShared(folder, [packed])).toMatchObject({ code: 0 });
  return join(folder, "node_modules", "made", "index.js");
}

test("a package that an earlier folder has is linked and not unpacked again, and its command with it; other content under the same name and version is unpacked", () => {
  const first = tarball("first", "#!/usr/bin/env node\nexport const made = 1;\n");
  const one = installed("one", first);
  const two = installed("two", first);
  expect(statSync(two).ino).toBe(statSync(one).ino);
  expect(tool("npx", ["--no-install", "made"], join(parent, "two"))).toMatchObject({ code: 0 });

  const other = installed("other", tarball("second", "export const made = 2;\n"));
  expect(readFileSync(other, "utf8")).toContain("made = 2");
  expect(readFileSync(one, "utf8")).toContain("made = 1");
});
