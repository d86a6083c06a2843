import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const sources: readonly string[] = process.env["LOOPWRIGHT_BUILT"] === "1" ? [] : ["--conditions=@loopwright/source"];
const file = fileURLToPath(new URL("./data-analysis.ts", import.meta.url));

test("B103, B106: an agent of the mode DATA_ANALYSIS computes with a table that was attached over HTTP, and the next run has no such tool", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [...sources, "--no-warnings", file]);
  expect(stdout.trimEnd().split("\n")).toEqual(["South, with 39 units.", "true", "1, 1, 0"]);
});
