import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it, onTestFinished } from "vitest";

const readme = fileURLToPath(new URL("../README.md", import.meta.url));
const program = fileURLToPath(new URL("./readme-example.ts", import.meta.url));

it("the example of the README is a program that searches an encrypted session and erases its scope", async () => {
  expect(readFileSync(readme, "utf8")).toContain(readFileSync(program, "utf8").trim());
  const cwd = mkdtempSync(join(tmpdir(), "sealed-readme-"));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  const env = { ...process.env, MASTER_KEY: randomBytes(32).toString("base64") };
  const { stdout } = await promisify(execFile)(process.execPath, ["--conditions=@loopwright/source", "--no-warnings", program], {
    cwd,
    env,
  });
  expect(stdout).toBe("1\n{ removed: 1, held: [] }\n");
});
