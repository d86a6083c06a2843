import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

it("the example of the README is a program that runs and finds nothing", async () => {
  const example = readFileSync(path("readme-example.ts"), "utf8");
  expect(readFileSync(path("../README.md"), "utf8")).toContain(example.trim());
  const args = ["--conditions=@loopwright/source", "--no-warnings", path("readme-example.ts")];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(stdout).toMatch(/^20 seeds, \d+ crashes, \d+ calls, \d+ bookings\n$/);
});
