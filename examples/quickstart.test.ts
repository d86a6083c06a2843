import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

/** `npm test` has just built everything: a program starts faster from the builds of the packages it imports. */
const sources: readonly string[] = process.env["LOOPWRIGHT_BUILT"] === "1" ? [] : ["--conditions=@loopwright/source"];

const file = fileURLToPath(new URL("./quickstart.ts", import.meta.url));

test("the quick start has twelve lines of code", () => {
  expect(
    readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line.trim() !== ""),
  ).toHaveLength(12);
});

test("the quick start runs, calls its tool and prints its status", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [...sources, "--no-warnings", file]);
  expect(stdout).toContain("The tool `add` says: 42");
  expect(stdout.trimEnd().endsWith("completed")).toBe(true);
});
