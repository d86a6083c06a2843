import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

/** `npm test` has just built everything: a program starts faster from the builds of the packages it imports. */
const sources: readonly string[] = process.env["LOOPWRIGHT_BUILT"] === "1" ? [] : ["--conditions=@loopwright/source"];

const readme = fileURLToPath(new URL("../README.md", import.meta.url));
const program = fileURLToPath(new URL("./readme-example.ts", import.meta.url));

it("the example of the README is a program that runs and finds nothing", async () => {
  const example = readFileSync(program, "utf8");
  expect(readFileSync(readme, "utf8")).toContain(example.trim());
  const args = [...sources, "--no-warnings", program];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(stdout).toMatch(/^20 seeds, \d+ crashes, \d+ calls, \d+ bookings\n$/);
});
