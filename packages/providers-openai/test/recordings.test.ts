import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Assembled, createAssembler, isAgentError } from "@loopwright/core";
import type { ModelRequest } from "@loopwright/core/ports";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openai } from "../src/index.ts";

interface Recording {
  readonly id: string;
  readonly provider: string;
  readonly model: string;
  readonly tags: readonly string[];
  readonly truth: {
    readonly text: string;
    readonly thinking: string;
    readonly toolCalls: readonly { id?: string; name: string; arguments: unknown; argumentsRaw?: string; argumentsInvalidJson?: boolean }[];
    readonly refusal?: string;
    readonly finishReasonRaw: string | null;
    readonly usage?: { inputTotal: number | null; outputTotal: number | null; cacheWrite: number | null; reasoning: number | null } | null;
    readonly error?: { status?: number; message: string };
  };
}

interface Replay {
  baseUrl(recording: Recording, options?: Record<string, string | number>): string;
  readonly recordings: Map<string, Recording>;
  close(): Promise<void>;
}

const folder = process.env["LOOPWRIGHT_RECORDINGS"];
const replayFolder = process.env["LOOPWRIGHT_REPLAY"];
if (!folder || !replayFolder) console.info("recordings: skipped, LOOPWRIGHT_RECORDINGS or LOOPWRIGHT_REPLAY is not set");

const recordings: readonly Recording[] =
  folder && replayFolder
    ? ["openai-chat", "openai-compat", "openai-responses"].flatMap((name) =>
        readdirSync(join(folder, name)).map((file): Recording => JSON.parse(readFileSync(join(folder, name, file), "utf8"))),
      )
    : [];
const streamed = recordings.filter((recording) => recording.tags.includes("stream"));
const unstreamed = recordings.filter((recording) => !recording.tags.includes("stream"));

async function run(baseURL: string, recording: Recording): Promise<Assembled> {
  const api = recording.provider === "openai-responses" ? "responses" : "chat";
  const provider = openai({ apiKey: "test-key", baseURL, api });
  const request: ModelRequest = {
    model: recording.model,
    messages: [{ role: "user", content: "Hello" }],
    stream: recording.tags.includes("stream"),
  };
  const assembler = createAssembler();
  let ends = 0;
  for await (const chunks of provider.stream(request, { signal: new AbortController().signal, attempt: 1 })) {
    expect(ends).toBe(0);
    for (const chunk of chunks) {
      assembler.push(chunk);
      if (chunk.type === "end") ends++;
    }
  }
  expect(ends).toBe(1);
  return assembler.finish("run.1");
}

function joined(assembled: Assembled, type: "text" | "thinking"): string {
  return assembled.parts.map((part) => (part.type === type ? part.text : "")).join("");
}

function compare(assembled: Assembled, { truth }: Recording): void {
  expect(joined(assembled, "text")).toBe(truth.text);
  expect(joined(assembled, "thinking")).toBe(truth.thinking);
  const calls = assembled.parts.filter((part) => part.type === "tool_call");
  expect(calls.map((call) => call.name)).toEqual(truth.toolCalls.map((call) => call.name));
  for (const [index, expected] of truth.toolCalls.entries()) {
    const call = calls[index];
    expect(call?.id).toBe(expected.id ?? call?.callKey);
    if (expected.argumentsInvalidJson) {
      expect(call?.argsText).toBe(expected.argumentsRaw);
      expect(call?.problem).toBe("truncated");
    } else expect(call?.args).toEqual(expected.arguments);
  }
  expect(assembled.ended?.raw ?? null).toBe(truth.finishReasonRaw);
  if (truth.refusal !== undefined) expect(assembled.ended).toMatchObject({ stopReason: "error", message: truth.refusal });
  const usage = assembled.usage;
  if (!truth.usage) expect(usage).toBeUndefined();
  else {
    expect((usage?.input ?? 0) + (usage?.cacheRead ?? 0) + (usage?.cacheWrite ?? 0)).toBe(truth.usage.inputTotal);
    expect(usage?.output).toBe(truth.usage.outputTotal);
    expect(usage?.cacheWrite ?? null).toBe(truth.usage.cacheWrite);
    expect(usage?.reasoning ?? null).toBe(truth.usage.reasoning);
  }
}

describe.runIf(recordings.length > 0)("recorded traffic", () => {
  let replay: Replay;
  beforeAll(async () => {
    const server = (await import(pathToFileURL(join(replayFolder ?? "", "server.mjs")).href)) as {
      startReplay(options: object): Promise<Replay>;
    };
    replay = await server.startReplay({ dirs: [folder] });
  });
  afterAll(() => replay.close());

  async function check(recording: Recording, chunk?: string): Promise<void> {
    const known = replay.recordings.get(recording.id) ?? recording;
    const running = run(replay.baseUrl(known, chunk === undefined ? {} : { chunk }), recording);
    const { error } = recording.truth;
    if (error === undefined) {
      compare(await running, recording);
      return;
    }
    const thrown = await running.catch((caught: unknown) => caught);
    expect(isAgentError(thrown)).toBe(true);
    expect(thrown).toMatchObject({ code: expect.stringMatching(/^(MODEL_|CONTEXT_OVERFLOW)/) });
    expect((thrown as Error).message).toContain(error.message.slice(0, 20));
  }

  it.each(["whole", "event", "bytes:13", "byte", "midchar"])(
    "says what the vendor said, in chunks of %s",
    async (chunk) => {
      for (const recording of streamed)
        await check(recording, chunk).catch((error: Error) =>
          Promise.reject(new Error(`${recording.id}: ${error.message}`, { cause: error })),
        );
    },
    60_000,
  );

  it("says what the vendor said, not streamed", async () => {
    for (const recording of unstreamed)
      await check(recording).catch((error: Error) => Promise.reject(new Error(`${recording.id}: ${error.message}`, { cause: error })));
  });
});
