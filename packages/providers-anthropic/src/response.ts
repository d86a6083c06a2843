import { AgentError, type ModelChunk, type Usage } from "@loopwright/core";
import {
  type ChunkDecoder,
  countOf,
  decodeSoundly,
  errorFromStatus,
  requireUsage,
  streamBroken,
  vendorErrorOf,
} from "@loopwright/provider-kit";
import { extendBlock, kindOf, type OpenBlock, startBlock, stopBlock } from "./open-block.ts";
import { vendorName } from "./options.ts";
import type { WireAnswer, WireDelta, WireEvent, WireStopDetails, WireUsage } from "./wire.ts";

/** A decoder for one answer. `secrets` are kept out of errors that it holds. */
export function createDecoder(secrets: readonly string[] = []): ChunkDecoder<WireEvent | null> {
  const blocks: (OpenBlock | undefined)[] = [];
  let model: string | undefined;
  let raw: string | undefined;
  let details: WireStopDetails | null | undefined;
  let hasCalls = false;
  let ended = false;

  const take = (event: WireEvent, out: ModelChunk[]): void => {
    const index = event.index ?? 0;
    switch (event.type) {
      case "content_block_delta": {
        if (!event.delta) return;
        blocks[index] ??= unstartedBlock(index, event.delta, out);
        if (blocks[index]) extendBlock(blocks[index], event.delta, out);
        return;
      }
      case "content_block_start":
        blocks[index] = startBlock(index, event.content_block ?? {}, out);
        hasCalls ||= blocks[index].kind === "call";
        return;
      case "content_block_stop":
        if (blocks[index]) stopBlock(blocks[index], out);
        blocks[index] = undefined;
        return;
      case "message_start":
        model = event.message?.model;
        pushUsage(event.message?.usage, out);
        return;
      case "message_delta":
        raw = event.delta?.stop_reason ?? raw;
        details = event.delta?.stop_details ?? details;
        pushUsage(event.usage, out);
        return;
      case "message_stop":
        ended = true;
        out.push(endOf({ raw, details, model, hasCalls }));
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
    finish: () => {
      throw streamBroken(vendorName, "its end (message_stop)");
    },
    get ended() {
      return ended;
    },
  };
}

/** A block of a server that leaves the start out. */
function unstartedBlock(index: number, delta: WireDelta, out: ModelChunk[]): OpenBlock | undefined {
  const type = delta.type === "text_delta" ? "text" : delta.type === "thinking_delta" ? "thinking" : undefined;
  return type && startBlock(index, { type }, out);
}

/** The chunks of an answer that was not streamed. @throws AgentError for an error with status 200, MODEL_PROTOCOL for what is no answer. */
export function chunksOf(answer: WireAnswer, secrets: readonly string[] = []): readonly ModelChunk[] {
  if (answer?.type === "error") throw errorFromStatus({ provider: vendorName, secrets, ...vendorErrorOf(answer) });
  if (!Array.isArray(answer?.content)) {
    throw new AgentError("MODEL_PROTOCOL", { message: `${vendorName} sent JSON that is no message.` });
  }
  const out: ModelChunk[] = [];
  const { content } = answer;
  decodeSoundly(out, () => {
    for (const [index, block] of content.entries()) stopBlock(startBlock(index, block, out), out);
    pushUsage(answer.usage, out);
  });
  const hasCalls = answer.content.some(({ type }) => kindOf(type) === "call");
  out.push(endOf({ raw: answer.stop_reason ?? undefined, details: answer.stop_details, model: answer.model, hasCalls }));
  return out;
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
    reasoning: countOf(wire.output_tokens_details?.thinking_tokens),
  };
  for (const name of countNames) if (counts[name] !== undefined) usage[name] = counts[name];
  out.push({ type: "usage", usage });
}

interface Ending {
  readonly raw: string | undefined;
  readonly details: WireStopDetails | null | undefined;
  readonly model: string | undefined;
  readonly hasCalls: boolean;
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
  const category = details?.category ? ` (${details.category})` : "";
  const explanation = details?.explanation ? ` ${details.explanation}` : "";
  return `The model declined to answer${category}.${explanation}`;
}
