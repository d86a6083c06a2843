import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { restrictedStart } from "./restricted-start.ts";

const self = fileURLToPath(import.meta.url);

it("a process that is started so reads what is asked for and may not write what is read-only, or a sentence gives the reason why there is none", ({
  skip,
}) => {
  const start = restrictedStart([self]);
  if (typeof start === "string") {
    expect(start).toMatch(/^No process here .*\.$/);
    return skip(start);
  }
  const folder = mkdtempSync(join(tmpdir(), "loopwright-modes-"));
  onTestFinished(() => {
    chmodSync(folder, 0o755);
    rmSync(folder, { recursive: true });
  });
  const file = join(folder, "file");
  writeFileSync(file, "kept");
  chmodSync(file, 0o444);
  chmodSync(folder, 0o555);
  const [program = "", ...words] = [...start.prefix, "sh", "-c", 'cat "$0" && echo changed >"$0"', file];
  const { stdout, status } = spawnSync(program, words, { encoding: "utf8", ...(start.uid === undefined ? {} : { uid: start.uid }) });
  expect([stdout, status === 0]).toEqual(["kept", false]);
  expect(execFileSync("cat", [file], { encoding: "utf8" })).toBe("kept");
});

it("there is none for a file that is not there", () => {
  expect(restrictedStart([join(tmpdir(), "loopwright-not-there", "file")])).toMatch(/^No process here/);
});
