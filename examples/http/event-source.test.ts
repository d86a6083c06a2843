import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";

// `npm test` has just built everything.
const isBuilt = process.env["LOOPWRIGHT_BUILT"] === "1";
const main = fileURLToPath(new URL(isBuilt ? "../../apps/cli/dist/main.js" : "../../apps/cli/src/main.ts", import.meta.url));
const example = fileURLToPath(new URL("./event-source.mjs", import.meta.url));

let folder = "";
let url = "";
let server: ChildProcess;

/** What a child prints until it ends, or until its first line. */
function written(child: ChildProcess, isWhole: boolean): Promise<string> {
  let text = "";
  return new Promise((resolve) => {
    child.stdout?.setEncoding("utf8").on("data", (piece: string) => {
      text += piece;
      if (!isWhole && text.includes("\n")) resolve(text);
    });
    child.on("close", () => resolve(text));
  });
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "loopwright-event-source-"));
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
  const env = { PATH: process.env["PATH"] ?? "", LOOPWRIGHT_OFFLINE_PACE: "0" };
  server = spawn(process.execPath, words, { cwd: folder, env, stdio: ["ignore", "pipe", "inherit"] });
  url = (JSON.parse((await written(server, false)).split("\n")[0] ?? "") as { readonly url: string }).url;
});

afterAll(async () => {
  server.kill("SIGKILL");
  await new Promise((resolve) => server.once("close", resolve));
  await rm(folder, { recursive: true, force: true });
});

test("a plain EventSource that comes late and appends `text_delta` has the whole answer", async () => {
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify({ sessionId: "greenhouse", input: "Hello.", context: {} });
  const streamed = await (await fetch(`${url}/api/agent/execute`, { method: "POST", headers, body })).text();
  const deltas = [...streamed.matchAll(/^event: text_delta\ndata: (.*)$/gm)].map(([, data = ""]) => JSON.parse(data) as { delta: string });
  const child = spawn(process.execPath, ["--no-warnings", "--experimental-eventsource", example, `${url}/api/sessions/greenhouse`], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  expect(deltas.length, streamed).toBeGreaterThan(0);
  expect(await written(child, true)).toBe(`${deltas.map(({ delta }) => delta).join("")}\n`);
});
