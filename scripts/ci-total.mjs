// Adds up what `.ci/run` ran: `node scripts/ci-total.mjs <test report> <exit code> <report of the browser tests> <exit code>
// <log of the gates> <exit code> <log of the rig> <exit code>`.
import { existsSync, readFileSync } from "node:fs";

const [report, testsExit, browserReport, browserExit, log, gatesExit, chaosLog, chaosExit] = process.argv.slice(2);

/** Passed and failed tests; a run that ended badly without a failed test counts as one failure. */
function tests(file, exit) {
  const { numPassedTests: passed = 0, numFailedTests: failed = 0 } = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
  return { passed, failed: failed === 0 && exit !== "0" ? 1 : failed };
}

/** Passed and failed parts of a log whose last line counts them. */
function counted(file, exit) {
  const [, passed, failed] =
    /(\d+) passed, (\d+) failed(?:, \d+ skipped)?\s*$/.exec(existsSync(file) ? readFileSync(file, "utf8") : "") ?? [];
  if (passed === undefined) return { passed: 0, failed: 1 };
  return { passed: Number(passed), failed: failed === "0" && exit !== "0" ? 1 : Number(failed) };
}

const parts = {
  tests: tests(report, testsExit),
  "browser tests": tests(browserReport, browserExit),
  gates: counted(log, gatesExit),
  chaos: counted(chaosLog, chaosExit),
};
for (const [name, { passed, failed }] of Object.entries(parts))
  console.log(`${name}: ${failed === 0 ? "passed" : "FAILED"} (${passed} of ${passed + failed})`);
const sum = (key) => Object.values(parts).reduce((total, part) => total + part[key], 0);
const nothing = parts.tests.passed + parts.tests.failed === 0;
if (nothing) console.log("No test ran.");
console.log(`${sum("passed")} passed, ${sum("failed") + (nothing ? 1 : 0)} failed`);
process.exitCode = sum("failed") > 0 || nothing ? 1 : 0;
