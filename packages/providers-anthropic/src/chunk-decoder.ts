import { AgentError, type ModelChunk, type Usage } from "@loopwright/core";
import {
  type ChunkDecoder,
  countOf,
  errorFromStatus,
  indexIn,
  listIn,
  recordIn,
  requireUsage,
  streamBroken,
  textIn,
  vendorErrorOf,
} from "@loopwright/provider-kit";
import { extendBlock, kindOf, type OpenBlock, startBlock, stopBlock } from "./open-block.ts";
import { vendorName } from "./options.ts";
import type { WireAnswer, WireBlock, WireDelta, WireEvent, WireStopDetails, WireUsage } from "./wire.ts";

/** A decoder for one answer. `secrets` are kept out of errors that it holds. */
export function createDecoder(secrets: readonly string[] = []): ChunkDecoder<WireEvent | null> {
  /** Those that are open, by the number that the vendor gives them. */
  const blocks = new Map<number, OpenBlock>();
  const ending: Ending = { raw: undefined, details: undefined, model: undefined, hasCalls: false };
  let ended = false;

  const take = (event: WireEvent, out: ModelChunk[]): void => {
    const index = indexIn(event.index, "the index of a block") ?? 0;
    switch (event.type) {
      case "content_block_delta": {
        const delta = recordIn(event.delta, "a delta");
        const block = delta && (blocks.get(index) ?? unstartedBlock(index, delta, out));
        if (!block) return;
        blocks.set(index, block);
        extendBlock(block, delta, out);
        return;
      }
      case "content_block_start": {
        const block = startBlock(index, recordIn(event.content_block, "a block") ?? {}, out);
        blocks.set(index, block);
        ending.hasCalls ||= block.kind === "call";
        return;
      }
      case "content_block_stop": {
        const block = blocks.get(index);
        blocks.delete(index);
        if (block) stopBlock(block, out);
        return;
      }
      case "message_start": {
        const message = recordIn(event.message, "a message");
        ending.model = textIn(message?.model, "a model");
        pushUsage(message?.usage, out);
        return;
      }
      case "message_delta":
        ending.raw = textIn(recordIn(event.delta, "a delta")?.stop_reason, "a stop reason") ?? ending.raw;
        ending.details = recordIn(event.delta?.stop_details, "a `stop_details`") ?? ending.details;
        pushUsage(event.usage, out);
        return;
      case "message_stop":
        ended = true;
        return;
      case "ping":
        out.push({ type: "alive" });
        return;
      case "error":
        throw errorFromStatus({ provider: vendorName, secrets, ...vendorErrorOf(event) });
    }
  };

  return {
    take: (event, out) => {
      if (event) take(event, out);
    },
    takeWhole: (answer: WireAnswer | null, out) => {
      const message = messageOf(answer, secrets);
      for (const [index, block] of listIn(message.content, "a content").entries()) stopBlock(startBlock(index, block, out), out);
      pushUsage(message.usage, out);
      Object.assign(ending, endingOf(message));
      ended = true;
    },
    finish: (out) => {
      if (!ended) throw streamBroken(vendorName, "its end (message_stop)");
      out.push(endOf(ending));
    },
    get ended() {
      return ended;
    },
  };
}

type WholeMessage = WireAnswer & { readonly content: readonly WireBlock[] };

/** An answer in one piece. @throws AgentError for an error with status 200, MODEL_PROTOCOL for what is no answer. */
function messageOf(answer: WireAnswer | null, secrets: readonly string[]): WholeMessage {
  if (answer?.type === "error") throw errorFromStatus({ provider: vendorName, secrets, ...vendorErrorOf(answer) });
  const content = answer?.content;
  if (Array.isArray(content)) return { ...answer, content };
  throw new AgentError("MODEL_PROTOCOL", { message: `${vendorName} sent JSON that is no message.` });
}

/** A block of a server that leaves the start out. */
function unstartedBlock(index: number, delta: WireDelta, out: ModelChunk[]): OpenBlock | undefined {
  const type = delta.type === "text_delta" ? "text" : delta.type === "thinking_delta" ? "thinking" : undefined;
  return type && startBlock(index, { type }, out);
}

const countNames = ["input", "cacheRead", "cacheWrite", "output", "reasoning"] as const;

/** `input_tokens` is without cache reads and writes, as ours is. @see https://platform.claude.com/docs/en/build-with-claude/prompt-caching (2026-11-21) */
function pushUsage(wire: WireUsage | null | undefined, out: ModelChunk[]): void {
  if (!wire) return;
  requireUsage(wire);
  const usage: { -readonly [Count in keyof Usage]: Usage[Count] } = {};
  const counts = {
    input: countOf(wire.input_tokens),
    cacheRead: countOf(wire.cache_read_input_tokens),
    cacheWrite: countOf(wire.cache_creation_input_tokens),
    output: countOf(wire.output_tokens),
    reasoning: countOf(recordIn(wire.output_tokens_details, "a usage")?.thinking_tokens),
  };
  for (const name of countNames) if (counts[name] !== undefined) usage[name] = counts[name];
  out.push({ type: "usage", usage });
}

interface Ending {
  raw: string | undefined;
  details: WireStopDetails | null | undefined;
  model: string | undefined;
  hasCalls: boolean;
}

function endingOf({ content, stop_reason, stop_details, model }: WholeMessage): Ending {
  const hasCalls = content.some(({ type }) => kindOf(type) === "call");
  return { raw: textIn(stop_reason, "a stop reason"), details: recordIn(stop_details, "a `stop_details`"), model, hasCalls };
}

/** @see https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons (2026-11-21) */
function endOf({ raw, details, model, hasCalls }: Ending): ModelChunk {
  const common = { ...(raw === undefined ? {} : { raw }), ...(model === undefined ? {} : { model }) };
  switch (raw) {
    case "tool_use":
      return { type: "end", stopReason: "tool_calls", ...common };
    case "max_tokens":
    case "model_context_window_exceeded":
      return { type: "end", stopReason: "length", ...common };
    case "refusal":
      return { type: "end", stopReason: "error", ...common, message: refusalText(details) };
    default:
      // end_turn, stop_sequence, pause_turn (a server tool's turn that another request continues), and words to come.
      return { type: "end", stopReason: hasCalls ? "tool_calls" : "stop", ...common };
  }
}

function refusalText(details: WireStopDetails | null | undefined): string {
  const category = textIn(details?.category, "a category");
  const explanation = textIn(details?.explanation, "an explanation");
  return `The model declined to answer${category ? ` (${category})` : ""}.${explanation ? ` ${explanation}` : ""}`;
}
