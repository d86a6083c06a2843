import {
  AgentError,
  type Message,
  type ModelChunk,
  type ProviderEntry,
  providerEntry,
  refuseUnknownOptions,
  systemText,
  type Usage,
} from "@loopwright/core";
import { systemClock } from "@loopwright/core/memory";
import type { Clock, ModelCallIo, ModelProvider, ModelRequest } from "@loopwright/core/ports";
import type { OfflineReply } from "./offline-answer.ts";
import { replyTo } from "./offline-reply.ts";
import { pause } from "./pause.ts";
import { piecesOf, wordsOf } from "./pieces.ts";

export interface OfflineOptions {
  /** Milliseconds between two words. Default 30. 0: no pauses and no timers. */
  readonly pace?: number;
  /** Default: the clock of the process. */
  readonly clock?: Clock;
}

/** Every option by name. */
const knownOptions: { readonly [Name in keyof OfflineOptions]-?: true } = {
  pace: true,
  clock: true,
};

/** A human looks at the screen before the first word comes: this many times the pace. */
const leadBeats = 8;
const argumentPiece = 12;
/** A rough but usual estimate; every usage it reports is marked `estimated`. */
const charactersPerToken = 4;
/** Vendors count an image by its area, not by its bytes: it stands for this many characters. */
const imageCharacters = 4_000;

/**
 * The offline model: a demonstration without network and key. It is deterministic, ends each answer with a label, and shows text,
 * thinking, tool calls, failures and long answers depending on what the user writes (`help` lists it).
 */
export const offline: ProviderEntry<OfflineOptions> = providerEntry(createOffline);

function createOffline(options: OfflineOptions = {}): ModelProvider {
  refuseUnknownOptions(options, knownOptions, "`offline`");
  const { pace = 30, clock = systemClock } = options;
  const sizes = new WeakMap<Message, number>();
  return {
    name: "offline",
    defaultModel: "offline-demo",
    capabilities: () => ({
      streaming: true,
      tools: true,
      vision: true,
      files: [],
      promptCaching: false,
      contextTokens: 128_000,
      outputTokensMax: 8_000,
    }),
    async *stream(request, io) {
      io.signal.throwIfAborted();
      const reply = replyTo(request, io.attempt);
      if (request.stream === false) yield [...chunksOf(reply)].flat();
      else yield* paced(reply, { pace, clock, io });
      io.signal.throwIfAborted();
      if (reply.failure) throw new AgentError(reply.failure.code, { message: reply.failure.message });
      yield [{ type: "usage", usage: usageOf(request, reply, sizes) }, endOf(reply, request.model)];
    },
  };
}

interface Pacing {
  readonly pace: number;
  readonly clock: Clock;
  readonly io: ModelCallIo;
}

async function* paced(reply: OfflineReply, { pace, clock, io }: Pacing): AsyncGenerator<readonly ModelChunk[]> {
  let wait = pace * leadBeats;
  for (const batch of chunksOf(reply)) {
    if (wait > 0) await pause(wait, clock, io.signal);
    else io.signal.throwIfAborted();
    yield batch;
    wait = pace;
  }
}

function* chunksOf(reply: OfflineReply): Generator<readonly ModelChunk[]> {
  let index = 0;
  for (const type of ["thinking", "text"] as const) {
    const text = reply[type];
    if (!text) continue;
    for (const delta of wordsOf(text)) yield [{ type, index, delta }];
    index += 1;
  }
  for (const [at, call] of (reply.calls ?? []).entries()) {
    yield [{ type: "call-start", index, id: `offline_${at + 1}`, name: call.name }];
    for (const delta of piecesOf(JSON.stringify(call.args), argumentPiece)) yield [{ type: "call-args", index, delta }];
    yield [{ type: "call-end", index }];
    index += 1;
  }
}

function endOf(reply: OfflineReply, model: string): ModelChunk {
  if (reply.refusal) return { type: "end", stopReason: "error", raw: "refusal", message: reply.refusal, model };
  if (reply.cutOff) return { type: "end", stopReason: "length", raw: "max_tokens", model };
  const stopReason = reply.calls?.length ? "tool_calls" : "stop";
  return { type: "end", stopReason, raw: stopReason, model };
}

function usageOf(request: ModelRequest, reply: OfflineReply, sizes: WeakMap<Message, number>): Usage {
  let characters = systemText(request.system)?.length ?? 0;
  for (const message of request.messages) {
    const size = sizes.get(message) ?? sizeOf(message);
    sizes.set(message, size);
    characters += size;
  }
  const reasoning = tokensOf(reply.thinking?.length ?? 0);
  const input = tokensOf(characters);
  const output = reasoning + tokensOf((reply.text?.length ?? 0) + JSON.stringify(reply.calls ?? "").length - 2);
  return { input, output, reasoning, total: input + output, source: "estimated" };
}

function sizeOf(message: Message): number {
  let images = 0;
  const text = JSON.stringify(message, (_, value: unknown) => {
    if (typeof value !== "object" || value === null || !("type" in value) || value.type !== "image") return value;
    images += 1;
    return undefined;
  });
  return text.length + images * imageCharacters;
}

function tokensOf(characters: number): number {
  return Math.ceil(characters / charactersPerToken);
}
