import { type AssistantPart, createAssembler, type Usage } from "@loopwright/core";
import type { ModelProvider, ModelRequest } from "@loopwright/core/ports";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { anthropic } from "../src/index.ts";
import {
  cannedFetch,
  hasRecordings,
  loadRecordings,
  loadReplay,
  type Replay,
  type ReplayServer,
  recordingsDirectory,
  type Truth,
} from "./recorded.ts";
import { violationsOf } from "./strict-rules.ts";

const chunkings = ["whole", "event", "bytes:13", "byte", "midchar"];
const request: ModelRequest = { model: "claude-sonnet-4-6", messages: [{ role: "user", content: "hello" }] };

const available = hasRecordings();
const recordings = available ? loadRecordings("anthropic") : [];
const streamed = recordings.filter(({ tags, response }) => tags.includes("stream") && response.status === 200);

describe.skipIf(!available)("recorded answers of Anthropic", () => {
  let replay: Replay;
  let server: ReplayServer;
  beforeAll(async () => {
    replay = await loadReplay();
    server = await replay.startReplay({ dirs: [recordingsDirectory ?? ""] });
  });
  afterAll(() => server.close());

  it("are 44, 27 of them streamed with status 200", () => {
    expect([recordings.length, streamed.length]).toEqual([44, 27]);
  });

  describe.each(chunkings)("cut as %s", (mode) => {
    it.each(streamed.map((each) => [each.id, each] as const))("%s is assembled as it was said", async (_, recording) => {
      const pieces = replay.chunkBody(Buffer.from(recording.response.body), mode);
      const provider = anthropic({ apiKey: "key", fetch: cannedFetch(pieces, recording.response) });
      expect(await answerOf(provider, request)).toEqual(expectedOf(recording.truth));
    });
  });

  it.each(recordings.map((each) => [each.id, each] as const))("%s comes through the replay server as it was said", async (_, recording) => {
    const provider = anthropic({ apiKey: "key", baseURL: server.baseUrl(recording) });
    expect(await answerOf(provider, { ...request, stream: recording.tags.includes("stream") })).toEqual(expectedOf(recording.truth));
  });

  it.each(recordings.filter(({ request: { body }, response }) => body && response.status !== 400).map((each) => [each.id, each] as const))(
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
  readonly serverItems: readonly string[];
  readonly signatures: readonly string[];
  readonly finish: string | undefined;
  readonly usage: unknown;
  readonly error: unknown;
}

async function answerOf(provider: ModelProvider, asked: ModelRequest): Promise<Answer> {
  const assembler = createAssembler();
  let error: unknown = null;
  try {
    for await (const chunks of provider.stream(asked, { signal: new AbortController().signal, attempt: 1 }))
      for (const chunk of chunks) assembler.push(chunk);
  } catch (thrown) {
    error = thrown;
  }
  const { parts, usage, ended } = assembler.finish("run.1");
  return {
    text: textOf(parts, "text"),
    thinking: textOf(parts, "thinking"),
    calls: parts.flatMap((part) =>
      part.type === "tool_call" ? [{ id: part.id, name: part.name, args: part.problem ? part.argsText : part.args }] : [],
    ),
    serverItems: parts
      .flatMap((part) => (part.type === "opaque" ? [typeOf(part.data)] : []))
      .filter((type) => type !== "redacted_thinking"),
    signatures: parts.flatMap((part) => (part.type === "thinking" && part.opaque ? [signatureOf(part.opaque.data)] : [])),
    finish: ended?.raw,
    usage: usage ? totalsOf(usage) : undefined,
    error: error === null ? null : { status: detailsOf(error), message: error instanceof Error ? error.message : "" },
  };
}

function expectedOf(truth: Truth): Answer {
  const { usage } = truth;
  return {
    text: truth.text ?? "",
    thinking: truth.thinking ?? "",
    calls: (truth.toolCalls ?? []).map((call) => ({ id: call.id, name: call.name, args: call.arguments })),
    serverItems: (truth.serverItems ?? []).map(({ type }) => type),
    signatures: truth.signatures ?? [],
    finish: truth.finishReasonRaw ?? undefined,
    usage:
      usage && !truth.error
        ? {
            input: usage.inputTotal,
            output: usage.outputTotal,
            read: usage.cachedInput ?? 0,
            write: usage.cacheWrite ?? 0,
            reasoning: usage.reasoning ?? undefined,
          }
        : undefined,
    error: truth.error ? { status: truth.error.status, message: expect.stringContaining(truth.error.message) } : null,
  };
}

function totalsOf({ input = 0, cacheRead = 0, cacheWrite = 0, output, reasoning }: Usage): unknown {
  return { input: input + cacheRead + cacheWrite, output, read: cacheRead, write: cacheWrite, reasoning };
}

function textOf(parts: readonly AssistantPart[], type: "text" | "thinking"): string {
  return parts.map((part) => (part.type === type ? part.text : "")).join("");
}

function typeOf(data: unknown): string {
  return typeof data === "object" && data !== null && "type" in data ? String(data.type) : "";
}

function signatureOf(data: unknown): string {
  return typeof data === "object" && data !== null && "signature" in data ? String(data.signature) : "";
}

function detailsOf(error: unknown): unknown {
  return typeof error === "object" &&
    error !== null &&
    "details" in error &&
    typeof error.details === "object" &&
    error.details !== null &&
    "status" in error.details
    ? error.details.status
    : undefined;
}
