// Adds up what `.ci/run` ran: `node scripts/ci-total.mjs <name>:<exit code>:<seconds>:<file> ...`. A file that ends in `.json` is a report of
// vitest, any other a log whose last line counts. A part with a limit of time is named when it took longer, and each failure is named
// with its cause, since the last lines of a run are often all that is kept of it.
import { existsSync, readFileSync } from "node:fs";

/** How long a part may take, in seconds: what engineers run many times a day must stay quick. */
const secondsMax = { tests: 150 };
const slowFilesShown = 5;
const failuresShown = 20;
const causeLinesMax = 12;

const parts = process.argv.slice(2).map((argument) => {
  const [, name, exit, seconds, file] = /^([^:]+):(\d+):(\d+):(.+)$/.exec(argument) ?? [];
  if (name === undefined) throw new Error(`\`${argument}\` is no <name>:<exit code>:<seconds>:<file>.`);
  return {
    name,
    seconds: Number(seconds),
    report: file.endsWith(".json") ? reportOf(file) : undefined,
    failures: failuresOf(file),
    ...countsOf(file, Number(exit)),
  };
});

function reportOf(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
}

/** Passed and failed; a part that ended badly without a failure, or that ran nothing, counts as one failure. */
function countsOf(file, exit) {
  const { passed, failed } = file.endsWith(".json") ? countsOfReport(reportOf(file)) : countsOfLog(file);
  const isEmpty = passed + failed === 0;
  return { passed, isEmpty, failed: failed === 0 && (exit !== 0 || isEmpty) ? 1 : failed };
}

function countsOfReport({ numPassedTests = 0, numFailedTests = 0, testResults = [] }) {
  // A file that could not be loaded, or that left something behind, has failed without a failed test.
  const brokenFiles = testResults.filter(
    ({ status, assertionResults = [] }) => status === "failed" && !assertionResults.some((test) => test.status === "failed"),
  );
  return { passed: numPassedTests, failed: numFailedTests + brokenFiles.length };
}

function countsOfLog(file) {
  const [, passed = 0, failed = 0] =
    /(\d+) passed, (\d+) failed(?:, \d+ skipped)?\s*$/.exec(existsSync(file) ? readFileSync(file, "utf8") : "") ?? [];
  return { passed: Number(passed), failed: Number(failed) };
}

/** What failed in a part, each with the first lines of its cause. */
function failuresOf(file) {
  if (file.endsWith(".json")) return (reportOf(file).testResults ?? []).flatMap(failuresOfFile);
  if (!existsSync(file)) return [`${file} is missing`];
  // A gate prints its problems, indented, before `gate walls: FAILED`; the rig prints what it saw after `FAIL restored-redis`.
  const ofGates = /(?:^ {2}(?!warning:).*\n)*^gate .*: FAILED.*/gm;
  const ofRig = /^FAIL\b.*(?:\n[ \t]+.*)*/gm;
  return [ofGates, ofRig].flatMap((pattern) => [...readFileSync(file, "utf8").matchAll(pattern)].map(([text]) => firstLines(text)));
}

function failuresOfFile({ name = "a file without a name", status, message = "", assertionResults = [] }) {
  const path = name.replace(`${process.cwd()}/`, "");
  const failed = assertionResults.filter((test) => test.status === "failed");
  if (failed.length === 0) return status === "failed" ? [`${path}\n${firstLines(message)}`] : [];
  return failed.map(({ fullName, failureMessages = [] }) => `${path}: ${fullName}\n${firstLines(failureMessages.join("\n"))}`);
}

function firstLines(text) {
  return text.split("\n").slice(0, causeLinesMax).join("\n");
}

const minutes = (seconds) => `${Math.floor(seconds / 60)} min ${seconds % 60} s`;

/** The files of a report that took longest. */
function slowest({ testResults = [] } = {}) {
  return testResults
    .map(({ name, startTime, endTime }) => ({ name, seconds: (endTime - startTime) / 1_000 }))
    .sort((a, b) => b.seconds - a.seconds)
    .slice(0, slowFilesShown)
    .map(({ name, seconds }) => `  ${seconds.toFixed(1)} s ${name.replace(`${process.cwd()}/`, "")}`);
}

for (const { name, passed, failed, isEmpty, seconds } of parts) {
  const what = isEmpty ? "nothing ran" : `${passed} of ${passed + failed}`;
  console.log(`${name}: ${failed === 0 ? "passed" : "FAILED"} (${what}, ${minutes(seconds)})`);
}
for (const { name, seconds, report } of parts) {
  const max = secondsMax[name];
  if (max === undefined || seconds <= max) continue;
  console.log(`TOO SLOW: ${name} took ${minutes(seconds)}, more than ${minutes(max)}. Move what takes longest to a \`.long.test\` file:`);
  for (const line of slowest(report)) console.log(line);
}
const failures = parts.flatMap((part) => part.failures.map((failure) => `FAILED in ${part.name}: ${failure}`));
for (const failure of failures.slice(0, failuresShown)) console.log(failure);
if (failures.length > failuresShown) console.log(`and ${failures.length - failuresShown} more failures`);
const sum = (key) => parts.reduce((total, part) => total + part[key], 0);
console.log(`${sum("passed")} passed, ${sum("failed") + (parts.length === 0 ? 1 : 0)} failed`);
process.exitCode = sum("failed") > 0 || parts.length === 0 ? 1 : 0;
