import { spawn } from "node:child_process";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

const script = fileURLToPath(new URL("operate/operator.sh", import.meta.url));
// `npm test` has just built everything.
const isBuilt = process.env["LOOPWRIGHT_BUILT"] === "1";
const main = fileURLToPath(new URL(isBuilt ? "../apps/cli/dist/main.js" : "../apps/cli/src/main.ts", import.meta.url));

test("the first day of an operator: init, secrets, a server in the background, a question, status, logs, stop", async () => {
  const home = await mkdtemp(join(tmpdir(), "example-operate-"));
  const child = spawn("sh", [script], {
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: home,
      LOOPWRIGHT: `'${process.execPath}' ${isBuilt ? "" : "--conditions=@loopwright/source"} --no-warnings '${main}'`,
      LOOPWRIGHT_OFFLINE_PACE: "0",
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  // The script stops its server when it ends itself, and so it is asked to.
  onTestFinished(() => void child.kill("SIGTERM"));
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  expect({ code, stderr }).toMatchObject({ code: 0 });
  const shown = [
    "Next: cd greeter && loopwright run",
    "The configuration is valid.",
    "ACME_API_TOKEN  local",
    "********  local",
    "serves in the background at http://127.0.0.1:",
    "health: ready",
    "42",
    "Loopwright serves",
  ];
  for (const text of shown) expect(stdout).toContain(text);
  expect(stderr).toContain("Stopped (process ");
  expect(stdout + stderr).not.toMatch(/a token of the example|five random words/);
});
