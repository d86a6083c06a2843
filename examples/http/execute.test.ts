import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

const script = fileURLToPath(new URL("./execute.sh", import.meta.url));
// `npm test` has just built everything.
const isBuilt = process.env["LOOPWRIGHT_BUILT"] === "1";
const main = fileURLToPath(new URL(isBuilt ? "../../apps/cli/dist/main.js" : "../../apps/cli/src/main.ts", import.meta.url));

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function runScript(words: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  const child = spawn("sh", [script, ...words], {
    env: {
      PATH: process.env["PATH"] ?? "",
      LOOPWRIGHT: `'${process.execPath}' ${isBuilt ? "" : "--conditions=@loopwright/source"} --no-warnings '${main}'`,
      LOOPWRIGHT_OFFLINE_PACE: "0",
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill());
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, stdout, stderr })));
}

test("the conversation of execute.sh: the call comes, the result goes back, the resumed stream ends as completed", async () => {
  const { code, stdout, stderr } = await runScript([]);
  expect(stderr).toBe("");
  expect(code).toBe(0);
  const frames = [...stdout.matchAll(/^data: (.*)$/gm)].map(
    ([, json = ""]) => JSON.parse(json) as { readonly type: string; readonly status?: string },
  );
  const ends = frames.filter(({ type }) => type === "execute_complete").map(({ status }) => status);
  expect(ends).toEqual(["awaiting_tool_execution", "completed"]);
  expect(frames.filter(({ type }) => type === "session_start")).toHaveLength(2);
  expect(frames.at(-1)?.type).toBe("execute_complete");
  const { messages } = JSON.parse(stdout.slice(stdout.lastIndexOf("\n{") + 1)) as {
    readonly messages: readonly { readonly role: string }[];
  };
  expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool_result", "assistant"]);
  expect(JSON.stringify(messages.at(-1))).toContain("21.5");
});

test("a server that is not there is reported, and the script fails", async () => {
  const { code, stderr } = await runScript(["http://127.0.0.1:9"]);
  expect(stderr).toContain("curl: ");
  expect(code).not.toBe(0);
});

test("a server that wants a token gets it, and one that does not start is reported", async () => {
  const { code, stdout } = await runScript([], { LOOPWRIGHT_TOKEN: "a-token-that-nobody-guesses" });
  expect(code).toBe(0);
  expect(stdout).toContain('"status":"completed"');
  const refused = await runScript([], { LOOPWRIGHT_TOKEN: "short" });
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain("fewer than 16 characters");
});
