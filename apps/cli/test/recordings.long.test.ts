import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer, request as httpRequest, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { AgentEvent } from "@loopwright/core";
import { memoryStore } from "@loopwright/core/memory";
import { findRecordings, isStreamed, loadRecordings, type Replay, startReplay } from "@loopwright/provider-kit/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { localPlace } from "../src/chat/local-place.ts";
import { terminalChat } from "../src/chat/terminal-chat.ts";
import { createAssistant } from "../src/compose/create-assistant.ts";
import { createProvider, modelsOf } from "../src/compose/create-provider.ts";
import { resolveSettings } from "../src/settings/settings.ts";
import { createStyle } from "../src/terminal/style.ts";
import { FakeInput, FakeScreen } from "./fake-terminal.ts";
import { type Ended, emptyDirectory, run } from "./run-binary.ts";

const place = findRecordings();
if (!place.available) console.log(`recordings: skipped, ${place.reason}`);

/** Vendor of the command line -> provider of the recordings. */
const vendors = { openai: "openai-chat", anthropic: "anthropic", gemini: "gemini", ollama: "ollama" } as const;
const keys = { OPENAI_API_KEY: "test-key", ANTHROPIC_API_KEY: "test-key", GEMINI_API_KEY: "test-key" };

/** Answers the first request by the first address, and every later one by the last. */
async function inTurn(addresses: readonly string[]): Promise<{ readonly server: Server; readonly address: string }> {
  let count = 0;
  const server = createServer((incoming, response) => {
    const target = addresses[Math.min(count, addresses.length - 1)] ?? "";
    count += 1;
    const outgoing = httpRequest(
      target + (incoming.url ?? ""),
      { method: incoming.method ?? "POST", headers: incoming.headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      },
    );
    outgoing.on("error", () => response.destroy());
    incoming.pipe(outgoing);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return { server, address: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

describe.skipIf(!place.available).each(Object.entries(vendors))("recorded traffic of %s", (vendor, provider) => {
  const recordings = place.available ? loadRecordings(place.recordings, [provider]) : [];
  const streamed = recordings.filter(
    (recording) => isStreamed(recording) && recording.response.status === 200 && !recording.request.path.endsWith("/generate"),
  );
  const written = streamed.filter(
    ({ truth, tags }) =>
      truth.text.length > 20 &&
      truth.toolCalls.length === 0 &&
      !tags.includes("max-tokens") &&
      !/length|max/i.test(truth.finishReasonRaw ?? ""),
  );
  const calling = streamed.filter(({ truth }) => truth.toolCalls.length > 0 && truth.toolCalls.every((call) => !call.argumentsInvalidJson));
  // 429 is left out: such a run waits as long as the vendor asks before it gives up.
  const failing = recordings.filter(({ response }) => response.status >= 400 && response.status !== 429);
  let replay: Replay;
  const ask = async (baseUrl: string, words: readonly string[], cwd: string): Promise<Ended> =>
    run(["ask", "--provider", vendor, "--model", "any-model", "--base-url", baseUrl, ...words], { cwd, env: keys });

  beforeAll(async () => {
    if (place.available) replay = await startReplay(place);
  });
  afterAll(() => replay?.close());

  test("holds answers, calls and errors to play", () => {
    expect([written.length, calling.length, failing.length].every((count) => count > 0)).toBe(true);
  });

  test.concurrent("prints the recorded answers", async ({ expect }) => {
    for (const recording of written.slice(0, 2)) {
      const { stdout, code, stderr } = await ask(replay.baseUrl(recording), ["hi"], await emptyDirectory());
      expect([recording.id, stdout.trim(), code, stderr.includes("why:")]).toEqual([recording.id, recording.truth.text.trim(), 0, false]);
    }
  });

  test.concurrent("shows the recorded answer in a chat", async ({ expect }) => {
    const [recording] = written;
    if (!recording) throw new Error("There is nothing to play.");
    const flags = { provider: vendor, model: "any-model", baseUrl: replay.baseUrl(recording) };
    const settings = resolveSettings(flags, keys, await emptyDirectory());
    const provider = await createProvider(settings);
    const agent = createAssistant({ model: modelsOf([provider]), filesDirectory: settings.filesDirectory, isAttended: true, ownTools: [] });
    const workplace = { settings, provider, agent, store: memoryStore() };
    const place = localPlace(workplace);
    const session = await place.open(undefined);
    const [input, output] = [new FakeInput(), new FakeScreen(100, 60)];
    const ended = terminalChat({ place, session, style: createStyle(false), input, output });
    input.write("hi\r");
    const firstWords = recording.truth.text.trim().slice(0, 20).split("\n")[0] ?? "";
    const lines = await output.until(
      (seen) => seen.some((line) => line.includes(firstWords)) && seen.some((line) => line.includes("Enter sends")),
    );
    expect(lines.at(-1)).toMatch(new RegExp(`^${vendor} any-model`));
    input.write("\u0004");
    await ended;
    expect(session.messages.at(-1)).toMatchObject({ role: "assistant", stopReason: "stop" });
  });

  test.concurrent("runs the recorded tool calls with their arguments", async ({ expect }) => {
    const [recording] = calling;
    const [answer] = written;
    if (!recording || !answer) throw new Error("There is nothing to play.");
    const cwd = await emptyDirectory();
    const names = [...new Set(recording.truth.toolCalls.map((call) => call.name))];
    const tool = (name: string): string =>
      `{ name: ${JSON.stringify(name)}, description: "Recorded.", parameters: { type: "object" }, replay: "pure", execute: (args) => JSON.stringify(args) }`;
    await writeFile(join(cwd, "tools.mjs"), `export const tools = [${names.map(tool).join(", ")}];\n`);
    const { server, address } = await inTurn([replay.baseUrl(recording), replay.baseUrl(answer)]);
    const { stdout, stderr } = await ask(address, ["--json", "--tools", "tools.mjs", "hi"], cwd);
    server.close();
    const events = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as AgentEvent);
    const started = events
      .filter((event) => event.type === "tool_execution_start")
      .map((event) => ({ name: event.toolName, arguments: event.args }));
    expect(started, stderr).toEqual(recording.truth.toolCalls.map((call) => ({ name: call.name, arguments: call.arguments })));
    const end = events.findLast((event) => event.type === "session_end");
    expect(JSON.stringify(end?.messages.at(-1))).toContain(JSON.stringify(answer.truth.text.trim().slice(0, 20)).slice(1, -1));
    expect(events.at(-1)).toMatchObject({ type: "execute_complete", status: "completed" });
  });

  test.concurrent("shows recorded errors with their cause", async ({ expect }) => {
    for (const recording of failing.slice(0, 3)) {
      const { stdout, stderr, code } = await ask(replay.baseUrl(recording, { strict: 0 }), ["--quiet", "hi"], await emptyDirectory());
      expect(stdout).toBe("");
      expect([3, 4]).toContain(code);
      expect(stderr).toMatch(/^.+ \([A-Z_]+\)\nwhy: .+\ntry: .+\n$/);
      expect(stderr).toContain(recording.truth.error?.message.replace(/\s+/g, " ").slice(0, 40).trim());
    }
  });
});
