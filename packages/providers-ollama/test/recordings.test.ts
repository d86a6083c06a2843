import { type AssistantPart, createAssembler } from "@loopwright/core";
import type { ModelProvider, ModelRequest } from "@loopwright/core/ports";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ollama } from "../src/index.ts";
import {
  cannedFetch,
  hasRecordings,
  loadRecordings,
  loadReplay,
  type Recording,
  type Replay,
  type ReplayServer,
  recordingsDirectory,
  type Truth,
} from "./recorded.ts";
import { violationsOf } from "./strict-rules.ts";

const chunkings = ["whole", "event", "bytes:13", "byte", "midchar"];
const request: ModelRequest = { model: "qwen3:4b", messages: [{ role: "user", content: "hello" }] };

/** What the provider rightly never does, by id with the reason. */
const excluded: Readonly<Record<string, string>> = {
  "ollama-test-generation-test-ollama-async-streaming-generation-legacy-8f023fde": "/api/generate: a completion of one prompt, not a chat",
  "ollama-test-generation-test-ollama-generation-legacy-92a19590": "/api/generate: a completion of one prompt, not a chat",
};

const available = hasRecordings();
const all = available ? loadRecordings("ollama") : [];
const recordings = all.filter(({ id }) => !(id in excluded));
const streamed = recordings.filter(({ tags, response }) => tags.includes("stream") && response.status === 200);

describe.skipIf(!available)("recorded answers of Ollama", () => {
  let replay: Replay;
  let server: ReplayServer;
  beforeAll(async () => {
    replay = await loadReplay();
    server = await replay.startReplay({ dirs: [recordingsDirectory ?? ""] });
  });
  afterAll(() => server.close());

  it("are 24, 2 of them of an endpoint that is not used, 11 streamed with status 200", () => {
    expect([all.length, recordings.length, streamed.length]).toEqual([24, 22, 11]);
  });

  describe.each(chunkings)("cut as %s", (mode) => {
    it.each(streamed.map((each) => [each.id, each] as const))("%s is assembled as it was said", async (_, recording) => {
      const pieces = replay.chunkBody(Buffer.from(recording.response.body), mode);
      const provider = ollama({ fetch: cannedFetch(pieces, recording.response) });
      expect(await answerOf(provider, request)).toEqual(expectedOf(recording));
    });
  });

  it.each(recordings.map((each) => [each.id, each] as const))("%s comes through the replay server as it was said", async (_, recording) => {
    const provider = ollama({ baseURL: server.baseUrl(recording) });
    expect(await answerOf(provider, { ...request, stream: recording.tags.includes("stream") })).toEqual(expectedOf(recording));
  });

  it.each(recordings.filter(({ request: { body } }) => body).map((each) => [each.id, each] as const))(
    "%s was asked for by a request that keeps the strict rules",
    (_, recording) => {
      expect(violationsOf(recording.request.body ?? {})).toEqual([]);
    },
  );
});

/** What a test compares: the parts that truth speaks of. */
interface Answer {
  readonly text: string;
  readonly thinking: string;
  readonly calls: readonly unknown[];
  readonly finish: string | undefined;
  readonly usage: unknown;
  readonly error: unknown;
}

async function answerOf(provider: ModelProvider, asked: ModelRequest): Promise<Answer> {
  const assembler = createAssembler();
  let error: unknown = null;
  try {
    for await (const chunks of provider.stream(asked, { signal: new AbortController().signal, attempt: 1 })) {
      for (const chunk of chunks) assembler.push(chunk);
    }
  } catch (thrown) {
    error = thrown;
  }
  const { parts, usage, ended } = assembler.finish("run.1");
  return {
    text: textOf(parts, "text"),
    thinking: textOf(parts, "thinking"),
    calls: parts.flatMap((part) => (part.type === "tool_call" ? [{ id: part.id, name: part.name, args: part.args }] : [])),
    finish: ended?.raw,
    usage: usage ? { input: usage.input, output: usage.output } : undefined,
    error: error === null ? null : { code: codeOf(error), message: error instanceof Error ? error.message : "" },
  };
}

function expectedOf({ truth }: Recording): Answer {
  return {
    text: truth.text ?? "",
    thinking: truth.thinking ?? "",
    calls: (truth.toolCalls ?? []).map((call, at) => ({ id: call.id ?? `run.1.${at}`, name: call.name, args: call.arguments })),
    finish: truth.finishReasonRaw ?? undefined,
    usage: usageOf(truth),
    error: truth.error ? { code: "MODEL_NOT_FOUND", message: expect.stringContaining(truth.error.message) } : null,
  };
}

function usageOf({ usage, error }: Truth): unknown {
  return usage && !error ? { input: usage.inputTotal ?? undefined, output: usage.outputTotal ?? undefined } : undefined;
}

function textOf(parts: readonly AssistantPart[], type: "text" | "thinking"): string {
  return parts.map((part) => (part.type === type ? part.text : "")).join("");
}

function codeOf(error: unknown): unknown {
  return typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
}
