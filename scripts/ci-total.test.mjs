import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "loopwright-total-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name, content) {
  const path = join(folder, name);
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
}

function total(...parts) {
  const { stdout, status } = spawnSync(process.execPath, [fileURLToPath(new URL("ci-total.mjs", import.meta.url)), ...parts], {
    encoding: "utf8",
    cwd: folder,
  });
  const lines = stdout.trim().split("\n");
  return { lines, last: lines.at(-1), status };
}

const tests = file("tests.json", { numPassedTests: 10, numFailedTests: 0 });
const long = file("long.json", { numPassedTests: 4, numFailedTests: 0 });
const gates = file("gates.log", "something\n7 passed, 0 failed\n");
const chaos = file("chaos.log", "5 passed, 0 failed, 2 skipped\n");

describe("the total of .ci/run", () => {
  it("adds up every part: reports of tests and logs", () => {
    const { lines, last, status } = total(`tests:0:90:${tests}`, `long tests:0:300:${long}`, `gates:0:60:${gates}`, `chaos:0:100:${chaos}`);
    expect(last).toBe("26 passed, 0 failed");
    expect(status).toBe(0);
    expect(lines).toEqual([
      "tests: passed (10 of 10, 1 min 30 s)",
      "long tests: passed (4 of 4, 5 min 0 s)",
      "gates: passed (7 of 7, 1 min 0 s)",
      "chaos: passed (5 of 5, 1 min 40 s)",
      "26 passed, 0 failed",
    ]);
  });

  it.each([
    ["a failed test", { numPassedTests: 3, numFailedTests: 2 }, 1, "3 passed, 2 failed"],
    ["a bad end without a failed test", { numPassedTests: 3, numFailedTests: 0 }, 1, "3 passed, 1 failed"],
    ["no test at all", { numPassedTests: 0, numFailedTests: 0 }, 0, "0 passed, 1 failed"],
    [
      "a file that could not be loaded, beside a failed test",
      {
        numPassedTests: 3,
        numFailedTests: 1,
        testResults: [
          { status: "failed", assertionResults: [] },
          { status: "failed", assertionResults: [{ status: "failed" }] },
          { status: "passed", assertionResults: [{ status: "passed" }] },
        ],
      },
      1,
      "3 passed, 2 failed",
    ],
  ])("fails for %s", (name, report, exit, last) => {
    expect(total(`tests:${exit}:1:${file(`${name}.json`, report)}`)).toMatchObject({ last, status: 1 });
  });

  it.each([
    ["a log without a count", "Segmentation fault\n", 0, "0 passed, 1 failed"],
    ["a log that counts failures", "3 passed, 2 failed\n", 1, "3 passed, 2 failed"],
    ["a log that counts none and a bad end", "3 passed, 0 failed\n", 139, "3 passed, 1 failed"],
  ])("fails for %s", (name, log, exit, last) => {
    expect(total(`gates:${exit}:1:${file(`${name}.log`, log)}`)).toMatchObject({ last, status: 1 });
  });

  it("names each failure with its cause after the parts, and that there are more", () => {
    const report = {
      numPassedTests: 1,
      numFailedTests: 1,
      testResults: [
        {
          name: join(folder, "packages/a/test/a.test.ts"),
          status: "failed",
          assertionResults: [
            { status: "failed", fullName: "a list shows all", failureMessages: ["Error: expected 3\n    at a.test.ts:5"] },
          ],
        },
        { name: join(folder, "packages/b/test/b.test.ts"), status: "failed", message: "Cannot find module", assertionResults: [] },
      ],
    };
    const log =
      "  warning: long\n  core imports host\ngate walls: FAILED (3 s)\ngate lint: passed\nFAIL restored-redis (30 s)\n    sessions lost: 1\n\nPASS other\n0 passed, 2 failed\n";
    const { lines } = total(`tests:1:1:${file("named.json", report)}`, `gates:1:1:${file("named.log", log)}`);
    expect(lines).toEqual([
      "tests: FAILED (1 of 3, 0 min 1 s)",
      "gates: FAILED (0 of 2, 0 min 1 s)",
      "FAILED in tests: packages/a/test/a.test.ts: a list shows all",
      "Error: expected 3",
      "    at a.test.ts:5",
      "FAILED in tests: packages/b/test/b.test.ts",
      "Cannot find module",
      "FAILED in gates:   core imports host",
      "gate walls: FAILED (3 s)",
      "FAILED in gates: FAIL restored-redis (30 s)",
      "    sessions lost: 1",
      "1 passed, 4 failed",
    ]);
    const many = {
      numFailedTests: 25,
      testResults: [
        {
          name: "a.test.ts",
          status: "failed",
          assertionResults: Array.from({ length: 25 }, (_, at) => ({ status: "failed", fullName: `test ${at}` })),
        },
      ],
    };
    const shown = total(`tests:1:1:${file("many.json", many)}`).lines;
    expect(shown.filter((line) => line.startsWith("FAILED in"))).toHaveLength(20);
    expect(shown.at(-2)).toBe("and 5 more failures");
  });

  it("fails where a report or a log is missing, and where nothing was run", () => {
    expect(total(`tests:0:1:${join(folder, "gone.json")}`, `gates:0:1:${join(folder, "gone.log")}`)).toMatchObject({
      last: "0 passed, 2 failed",
      status: 1,
    });
    expect(total()).toMatchObject({ last: "0 passed, 1 failed", status: 1 });
  });

  it("warns when the tests took longer than two and a half minutes, and names the slowest files, without failing", () => {
    const testResults = [2, 40, 7, 9, 1, 11].map((seconds, at) => ({
      name: join(folder, `f${at}.test.ts`),
      status: "passed",
      startTime: 1_000,
      endTime: 1_000 + seconds * 1_000,
    }));
    const slow = file("slow.json", { numPassedTests: 6, numFailedTests: 0, testResults });
    expect(total(`tests:0:150:${slow}`).lines).toHaveLength(2);
    const { lines, status } = total(`tests:0:151:${slow}`, `long tests:0:500:${long}`);
    expect(status).toBe(0);
    expect(lines.slice(2)).toEqual([
      "TOO SLOW: tests took 2 min 31 s, more than 2 min 30 s. Move what takes longest to a `.long.test` file:",
      "  40.0 s f1.test.ts",
      "  11.0 s f5.test.ts",
      "  9.0 s f3.test.ts",
      "  7.0 s f2.test.ts",
      "  2.0 s f0.test.ts",
      "10 passed, 0 failed",
    ]);
  });
});
