import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";

// `npm test` has just built everything.
const isBuilt = process.env["LOOPWRIGHT_BUILT"] === "1";
const main = fileURLToPath(new URL(isBuilt ? "../../apps/cli/dist/main.js" : "../../apps/cli/src/main.ts", import.meta.url));
const page = await readFile(new URL("./README.md", import.meta.url), "utf8");
const commands = [...page.matchAll(/^```sh\n(curl[\s\S]*?)^```$/gm)].map(([, command = ""]) => command);

let folder = "";
let url = "";
let server: ChildProcess;

/** Runs a command until it has sent all of the texts, in any order, or to its end; returns what it sent. */
function runUntil(command: string, texts: readonly string[]): Promise<string> {
  const child = spawn("sh", ["-c", `exec ${command}`], {
    env: { PATH: process.env["PATH"] ?? "", URL: url, SESSION: "greenhouse" },
    stdio: ["ignore", "pipe", "ignore"],
  });
  let written = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    written += text;
    if (texts.every((one) => written.includes(one))) child.kill();
  });
  return new Promise((resolve) => child.on("close", () => resolve(written)));
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "loopwright-http-"));
  const words = [
    ...(isBuilt ? [] : ["--conditions=@loopwright/source"]),
    "--no-warnings",
    main,
    "run",
    "--offline",
    "--port",
    "0",
    "--json",
  ];
  const child = spawn(process.execPath, words, {
    cwd: folder,
    env: { PATH: process.env["PATH"] ?? "", LOOPWRIGHT_OFFLINE_PACE: "0" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  server = child;
  const first = await new Promise<string>((resolve) => child.stdout.setEncoding("utf8").once("data", resolve));
  url = (JSON.parse(first.split("\n")[0] ?? "") as { readonly url: string }).url;
});

afterAll(async () => {
  server.kill("SIGKILL");
  await new Promise((resolve) => server.once("close", resolve));
  await rm(folder, { recursive: true, force: true });
});

/** What each command of the page states, in the order of the page. */
const written: readonly (readonly string[])[] = [
  ["event: session_start\n", "event: text_delta\n", "event: execute_complete\n", '"status":"completed"'],
  ['"runId":', '"replayed":false'],
  ["id: 3.0\nevent: input_accepted\n", "event: run_end\n", "event: rest\n"],
  ["event: run_start\n", "event: rest\n"],
  ["event: session_snapshot\n"],
  ["event: run_start\n"],
  ['"events":[', '"cursor":"'],
  ["retry: "],
  ["retry: "],
  ['"aborting":'],
  ['"name":"roses.txt"', '"sizeBytes":17', '"status":"completed"'],
];

test("the page has a line for every streaming route", () => {
  expect(commands).toHaveLength(written.length);
  for (const route of ["/api/agent/execute", "/events", "?after=", "?from=now", "Last-Event-ID", "/api/notifications", "dialect="]) {
    expect(commands.some((command) => command.includes(route))).toBe(true);
  }
});

test("every command of the page prints what the page shows", async () => {
  for (const [place, texts] of written.entries()) {
    const output = await runUntil(commands[place] ?? "", texts);
    for (const text of texts) expect(output).toContain(text);
    if (place === 2) expect(output.trimEnd()).toMatch(/event: rest\ndata: .*$/);
  }
});
