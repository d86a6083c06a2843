import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type AssistantPart, createAssembler, type JsonObject, type Usage } from "@loopwright/core";
import type { ModelProvider, ModelRequest } from "@loopwright/core/ports";

/** What the recording's own fold says of the answer. */
export interface Truth {
  readonly text: string;
  readonly thinking: string;
  readonly toolCalls: readonly { readonly id?: string; readonly name: string; readonly arguments: unknown }[];
  readonly serverItems?: readonly { readonly type: string }[];
  readonly signatures?: readonly string[];
  readonly finishReasonRaw: string | null;
  readonly usage: { readonly [count in "inputTotal" | "outputTotal" | "cachedInput" | "reasoning"]?: number | null };
  readonly error?: { readonly status: number; readonly message: string };
}

/** One recorded call, as far as these tests read it. */
export interface Recording {
  readonly id: string;
  readonly provider: string;
  readonly tags: readonly string[];
  readonly request: { readonly path: string; readonly body: JsonObject | null };
  readonly response: { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: string };
  readonly truth: Truth;
}

/** The running replay server. */
export interface Replay {
  readonly requests: readonly { readonly path: string; readonly body: JsonObject; readonly clientClosedAt?: number }[];
  baseUrl(recording: Recording, options?: Readonly<Record<string, string>>): string;
  close(): Promise<void>;
}

interface ReplayModule {
  chunkBody(body: Buffer, mode: string): readonly Uint8Array[];
  startReplay(options: { dirs: string[] }): Promise<Replay>;
}

const recordings = process.env["LOOPWRIGHT_RECORDINGS"];
const replay = process.env["LOOPWRIGHT_REPLAY"];

/** True when recordings and replay server are there; else says why the suites are skipped. */
export function hasRecordings(): boolean {
  if (recordings && replay) return true;
  console.info("Skipped: LOOPWRIGHT_RECORDINGS and LOOPWRIGHT_REPLAY do not name the recorded traffic.");
  return false;
}

export function loadRecordings(): readonly Recording[] {
  const index = readJson("index.json") as { recordings: { provider: string; file: string }[] };
  return index.recordings.filter(({ provider }) => provider === "gemini").map(({ file }) => readJson(file) as Recording);
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(join(recordings ?? "", file), "utf8"));
}

export function loadReplay(): Promise<ReplayModule> {
  return import(pathToFileURL(join(replay ?? "", "server.mjs")).href) as Promise<ReplayModule>;
}

export function startReplay(module: ReplayModule): Promise<Replay> {
  return module.startReplay({ dirs: [recordings ?? ""] });
}

/** A transport that answers with these bytes in these pieces. */
export function cannedFetch(
  pieces: readonly Uint8Array[],
  headers: Readonly<Record<string, string>>,
  status = 200,
): typeof globalThis.fetch {
  return async () => {
    let at = 0;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        const piece = pieces[at++];
        if (piece) controller.enqueue(piece);
        else controller.close();
      },
    });
    return new Response(body, { status, headers: { ...headers } });
  };
}

/** What a test compares. */
export interface Answer {
  readonly text: string;
  readonly thinking: string;
  readonly calls: readonly unknown[];
  readonly serverItems: readonly string[];
  readonly signatures: readonly string[];
  readonly finish: string | undefined;
  readonly stopReason: string | undefined;
  readonly usage: unknown;
  readonly error: unknown;
  readonly parts: readonly AssistantPart[];
}

/** Makes one call and folds all it says. */
export async function answerOf(
  provider: ModelProvider,
  asked: ModelRequest,
  signal: AbortSignal = new AbortController().signal,
): Promise<Answer> {
  const assembler = createAssembler();
  let error: unknown;
  try {
    for await (const chunks of provider.stream(asked, { signal, attempt: 1 })) for (const chunk of chunks) assembler.push(chunk);
  } catch (thrown) {
    error = thrown;
  }
  const { parts, usage, ended } = assembler.finish("run.1");
  const opaque = parts.flatMap((part) => (part.type === "opaque" ? [part.data as { part: Record<string, unknown> }] : []));
  return {
    text: textOf(parts, "text"),
    thinking: textOf(parts, "thinking"),
    calls: parts.flatMap((part) =>
      part.type === "tool_call"
        ? [{ ...(part.id === part.callKey ? {} : { id: part.id }), name: part.name, arguments: part.problem ? part.argsText : part.args }]
        : [],
    ),
    serverItems: opaque
      .map(({ part }) => Object.keys(part).find((key) => key !== "thoughtSignature" && key !== "text"))
      .filter((key) => key !== undefined),
    signatures: [...JSON.stringify(parts).matchAll(/"thoughtSignature":"([^"]*)"/g)].map((match) => match[1] ?? ""),
    finish: ended?.raw,
    stopReason: ended?.stopReason,
    usage: totalsOf(usage),
    error,
    parts,
  };
}

/** The same of a recording. */
export function expectedOf({ truth }: Recording): Partial<Answer> {
  const { usage } = truth;
  return {
    text: truth.text,
    thinking: truth.thinking,
    calls: truth.toolCalls.map(({ id, name, arguments: args }) => ({ ...(id === undefined ? {} : { id }), name, arguments: args })),
    serverItems: (truth.serverItems ?? []).map(({ type }) => type),
    signatures: truth.signatures ?? [],
    finish: truth.finishReasonRaw ?? undefined,
    usage: {
      read: usage.inputTotal ?? undefined,
      cached: usage.cachedInput ?? undefined,
      written: usage.outputTotal ?? undefined,
      reasoning: usage.reasoning ?? undefined,
    },
  };
}

function totalsOf(usage: Usage | undefined): unknown {
  const { input, cacheRead, output, reasoning } = usage ?? {};
  const read = input === undefined ? undefined : input + (cacheRead ?? 0);
  return { read, cached: cacheRead, written: output, reasoning };
}

function textOf(parts: readonly AssistantPart[], type: "text" | "thinking"): string {
  return parts.map((part) => (part.type === type ? part.text : "")).join("");
}
