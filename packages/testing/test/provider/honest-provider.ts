import { AgentError, type ErrorCode, type JsonObject, type ModelChunk, type ModelProvider, type ModelRequest } from "@loopwright/core";
import type { ModelProviderSubject, WireScript } from "../../src/provider/wire.ts";
import { honestBody, honestVendor as vendor } from "./honest-body.ts";
import { type MemoryResponse, type MemoryWire, memoryWire } from "./memory-wire.ts";

/** The key of the honest provider. */
export const honestKey = "key-9d1c-MEMORY-CANARY";

/** An event of the memory wire, read loosely. */
export interface ReadEvent {
  readonly thinking?: string;
  readonly signature?: string;
  readonly text?: string;
  readonly call?: number;
  readonly id?: string;
  readonly name?: string;
  readonly args?: string;
  readonly done?: boolean;
  readonly usage?: { readonly input: number; readonly cacheRead?: number; readonly output: number; readonly reasoning?: number };
  readonly stop?: "stop" | "length" | "tool_calls" | "refusal";
  readonly error?: string;
}

/** What failed: the vendor's answer with an error status. */
export interface HonestFailure {
  readonly status: number;
  readonly message: string;
  readonly overflow: boolean;
  readonly retryAfter?: string;
  /** As the body holds it. */
  readonly waitMs?: number;
}

/** The parts of the honest provider; a saboteur replaces one of them. */
export interface HonestParts {
  readonly bodyOf: (request: ModelRequest) => JsonObject;
  readonly failure: (failure: HonestFailure, body: JsonObject) => AgentError;
  /** What to throw for trouble of the connection; `streaming` once the headers came. */
  readonly trouble: (error: unknown, streaming: boolean) => unknown;
  readonly lines: (body: ReadableStream<Uint8Array>, signal: AbortSignal) => AsyncGenerator<readonly string[]>;
  /** The text of an answer in one piece. */
  readonly textOf: (body: ReadableStream<Uint8Array>) => Promise<string>;
  /** What is read of the body of an error. */
  readonly pageOf: (body: ReadableStream<Uint8Array>) => Promise<string>;
  readonly parse: (line: string) => ReadEvent | undefined;
  /** Makes what turns events into chunks, anew for every call. */
  readonly translator: () => (event: ReadEvent) => readonly ModelChunk[];
  /** What to throw for the vendor's error event. */
  readonly reported: (written: string) => AgentError;
  /** Throws where the trailers report that the answer failed. */
  readonly trailers: (trailers: Readonly<Record<string, string>>) => void;
  /** What is handed on of a read in which an error came, before the error is thrown. */
  readonly before: (chunks: readonly ModelChunk[]) => readonly ModelChunk[];
  /** Called when the body has ended without a terminal event, after `count` events. May give chunks instead of throwing. */
  readonly unfinished: (count: number, lastEvent: ReadEvent | undefined) => readonly ModelChunk[];
  /** Called when the signal was aborted. May give chunks instead of throwing. */
  readonly aborted: (signal: AbortSignal, lastEvent: ReadEvent | undefined) => readonly ModelChunk[];
  readonly page: () => readonly ModelChunk[];
  /** What to throw for a redirect. */
  readonly redirected: (location: string, request: { readonly wire: MemoryWire; readonly body: JsonObject }) => AgentError;
  readonly isUnsupported: (request: ModelRequest) => boolean;
}

const codes: Readonly<Record<number, ErrorCode>> = {
  401: "MODEL_AUTH",
  402: "MODEL_QUOTA_EXHAUSTED",
  403: "MODEL_AUTH",
  404: "MODEL_NOT_FOUND",
  408: "MODEL_TIMEOUT",
  429: "MODEL_RATE_LIMITED",
};

/** Most characters of a line, of a page and of an answer in one piece. */
const honestCharsMax = 1024 * 1024;

/** How lines are read. */
export interface ReadLinesOptions {
  /** After what the connection is closed. Default: both. */
  readonly closesOn?: readonly ("abort" | "leaving")[];
  /** Most characters of one line. */
  readonly charsMax?: number;
}

/** Reads lines as they come. */
export async function* readLines(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
  { closesOn = ["abort", "leaving"], charsMax = honestCharsMax }: ReadLinesOptions = {},
): AsyncGenerator<readonly string[]> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
  aborted.catch(() => undefined);
  try {
    let rest = "";
    for (let read = await reader.read(); !read.done; read = await Promise.race([reader.read(), aborted])) {
      const lines = (rest + decoder.decode(read.value, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      if (rest.length > charsMax) {
        reader.cancel().catch(() => undefined);
        throw tooLong();
      }
      if (lines.length > 0) yield lines;
    }
    if (rest !== "") yield [rest];
  } finally {
    if (closesOn.includes(signal.aborted ? "abort" : "leaving")) reader.cancel().catch(() => undefined);
  }
}

/** Block indices: thinking 0, text 1, calls from 2. */
function translate(event: ReadEvent): readonly ModelChunk[] {
  if (event.thinking !== undefined) return [{ type: "thinking", index: 0, delta: event.thinking }];
  if (event.signature !== undefined) return [{ type: "opaque", index: 0, vendor, data: event.signature }];
  if (event.text !== undefined) return [{ type: "text", index: 1, delta: event.text }];
  if (event.usage) return [{ type: "usage", usage: event.usage }];
  if (event.call !== undefined) {
    const index = event.call + 2;
    if (event.name !== undefined) return [{ type: "call-start", index, id: event.id ?? "", name: event.name }];
    return event.done ? [{ type: "call-end", index }] : [{ type: "call-args", index, delta: event.args ?? "" }];
  }
  if (event.stop === undefined) return [];
  if (event.stop === "refusal") return [{ type: "end", stopReason: "error", raw: "refusal", message: "The model declined to answer." }];
  return [{ type: "end", stopReason: event.stop, raw: event.stop }];
}

/** A sentence about a key is left out: the key may stand in it in any spelling. */
const withoutKey = (written: string): string => (written.includes("API key") ? "Something about a key." : written);

/** The parts of a provider that keeps every promise. */
export const honestParts: HonestParts = {
  bodyOf: honestBody,
  failure: ({ status, message, overflow, retryAfter, waitMs }) => {
    const code = overflow ? "CONTEXT_OVERFLOW" : (codes[status] ?? (status >= 500 ? "MODEL_OVERLOADED" : "MODEL_BAD_REQUEST"));
    const seconds = Number(retryAfter);
    const wait = retryAfter === undefined || Number.isNaN(seconds) ? waitMs : seconds * 1_000;
    return new AgentError(code, {
      message: `Memory answered with status ${status}.`,
      retryAfterMs: wait,
      vendorMessage: withoutKey(message),
    });
  },
  trouble: (error, streaming) =>
    error instanceof TypeError
      ? new AgentError(streaming ? "MODEL_STREAM_BROKEN" : "MODEL_UNREACHABLE", {
          message: "The connection to memory failed.",
          cause: error,
        })
      : error,
  lines: (body, signal) => readLines(body, signal),
  pageOf: async (body) => (await headOfBody(body)).text,
  textOf: async (body) => {
    const { text, isWhole } = await headOfBody(body);
    if (!isWhole) throw tooLong();
    return text;
  },
  parse: (line) => {
    try {
      return JSON.parse(line) as ReadEvent;
    } catch {
      throw new AgentError("MODEL_PROTOCOL", { message: "Memory sent what is not JSON." });
    }
  },
  translator: () => translate,
  reported: (written) => new AgentError("MODEL_OVERLOADED", { message: "Memory reported an error.", vendorMessage: withoutKey(written) }),
  trailers: ({ "memory-error": written }) => {
    if (written !== undefined)
      throw new AgentError("MODEL_OVERLOADED", { message: "The answer of memory failed at its end.", vendorMessage: written });
  },
  before: (chunks) => chunks,
  unfinished: () => {
    throw new AgentError("MODEL_STREAM_BROKEN", { message: "The answer of memory ended without its stop." });
  },
  aborted: (signal) => {
    throw signal.reason;
  },
  page: () => {
    throw new AgentError("MODEL_PROTOCOL", { message: "Memory answered with a page." });
  },
  redirected: (location) =>
    new AgentError("MODEL_REDIRECTED", { message: `Memory sent the call on to ${new URL(location).origin}, which was not followed.` }),
  isUnsupported: ({ model, messages, reasoning }) =>
    (model === "memory-blind" && JSON.stringify(messages).includes('"image"')) || (model === "memory-quick" && reasoning !== undefined),
};

const tooLong = (): AgentError => new AgentError("MODEL_PROTOCOL", { message: "The answer is too large.", retryable: false });

/** The text up to the bound, with the rest left unread. */
async function headOfBody(body: ReadableStream<Uint8Array>): Promise<{ readonly text: string; readonly isWhole: boolean }> {
  const decoder = new TextDecoder();
  let text = "";
  // Leaving the loop cancels the body.
  for await (const bytes of body) {
    text += decoder.decode(bytes, { stream: true });
    if (text.length > honestCharsMax) return { text, isWhole: false };
  }
  return { text, isWhole: true };
}

async function* events(
  parts: HonestParts,
  response: MemoryResponse,
  { body, signal }: { body: JsonObject; signal: AbortSignal },
): AsyncGenerator<Iterable<ReadEvent>> {
  if (body["stream"] === false || response.headers["content-type"] === "application/json") {
    yield JSON.parse(await parts.textOf(response.body)) as readonly ReadEvent[];
    return;
  }
  for await (const lines of parts.lines(response.body, signal)) yield parsed(lines, parts);
}

/** One by one: a line that cannot be read takes nothing from those before it. */
function* parsed(lines: readonly string[], parts: HonestParts): Generator<ReadEvent> {
  for (const line of lines) {
    const event = parts.parse(line);
    if (event !== undefined) yield event;
  }
}

async function send(
  parts: HonestParts,
  wire: MemoryWire,
  { body, signal }: { body: JsonObject; signal: AbortSignal },
): Promise<MemoryResponse> {
  try {
    return await wire.send({ path: "/v1/chat", body }, signal);
  } catch (error) {
    throw signal.aborted ? error : parts.trouble(error, false);
  }
}

interface FailureBody {
  readonly error: string;
  readonly kind?: string;
  readonly waitMs?: number;
}

async function failureFrom(response: MemoryResponse, { pageOf }: HonestParts): Promise<HonestFailure> {
  const written = await pageOf(response.body);
  const json = written.startsWith("{") ? (JSON.parse(written) as FailureBody) : { error: "no JSON" };
  const retryAfter = response.headers["retry-after"];
  return {
    status: response.status,
    message: json.error,
    overflow: "kind" in json,
    ...(retryAfter === undefined ? {} : { retryAfter }),
    ...(json.waitMs === undefined ? {} : { waitMs: json.waitMs }),
  };
}

/** A provider over a memory wire, made of these parts. */
function honestProvider(wire: MemoryWire, parts: HonestParts): ModelProvider {
  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<readonly ModelChunk[]> {
    if (parts.isUnsupported(request))
      throw new AgentError("MODEL_UNSUPPORTED", { message: `${request.model} does not do what is asked of it.` });
    const body = parts.bodyOf(request);
    let count = 0;
    let last: ReadEvent | undefined;
    signal.throwIfAborted();
    const translator = parts.translator();
    const ending: ModelChunk[] = [];
    let streaming = false;
    try {
      const response = await send(parts, wire, { body, signal });
      streaming = true;
      const { location } = response.headers;
      if (location !== undefined) throw parts.redirected(location, { wire, body });
      if (response.status >= 400) throw parts.failure(await failureFrom(response, parts), body);
      if (response.headers["content-type"] === "text/html") return yield parts.page();
      for await (const batch of events(parts, response, { body, signal })) {
        const chunks: ModelChunk[] = [];
        try {
          for (const event of batch) {
            if (event.error !== undefined) throw parts.reported(event.error);
            last = event;
            count++;
            chunks.push(...translator(event));
          }
        } catch (error) {
          const kept = parts.before(chunks);
          if (kept.length > 0) yield kept;
          throw error;
        }
        // The trailers may still report that it failed.
        const isEnd = ({ type }: ModelChunk): boolean => type === "end";
        ending.push(...chunks.filter(isEnd));
        if (!chunks.every(isEnd)) yield chunks.filter((chunk) => !isEnd(chunk));
      }
      if (ending.length > 0) {
        parts.trailers(response.trailers);
        yield ending;
      }
    } catch (error) {
      if (signal.aborted) return yield parts.aborted(signal, last);
      throw streaming ? parts.trouble(error, true) : error;
    }
    if (signal.aborted) yield parts.aborted(signal, last);
    else if (ending.length === 0) yield parts.unfinished(count, last);
  }
  return {
    name: "memory",
    defaultModel: "memory-1",
    capabilities: (model) => ({ streaming: true, tools: true, vision: model !== "memory-blind", promptCaching: false }),
    stream: (request, { signal }) => stream(request, signal),
  };
}

/** What a saboteur changes: parts, or the finished provider. */
export interface Spoil {
  readonly parts?: Partial<HonestParts>;
  readonly wrap?: (provider: ModelProvider, wire: MemoryWire) => ModelProvider;
}

/** A fresh subject over a memory wire. */
export async function memorySubject(script: WireScript, spoil: Spoil = {}): Promise<ModelProviderSubject> {
  const wire = memoryWire(script, honestKey);
  const provider = honestProvider(wire, { ...honestParts, ...spoil.parts });
  return {
    provider: spoil.wrap?.(provider, wire) ?? provider,
    model: "memory-1",
    modelWithoutVision: "memory-blind",
    modelWithoutReasoning: "memory-quick",
    key: honestKey,
    requests: wire.requests,
    elsewhere: wire.elsewhere,
    eventsBeforeEnd: wire.eventsBeforeEnd,
    isSilent: wire.isSilent,
    hangUps: wire.hangUps,
    release: wire.release,
    patienceMs: 150,
    close: async () => wire.release(),
  };
}
