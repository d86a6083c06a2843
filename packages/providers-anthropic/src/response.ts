import { AgentError, type Json, type JsonObject, type ModelChunk, type Usage } from "@loopwright/core";
import { errorFromStatus, type SseEvent, vendorErrorOf } from "@loopwright/provider-kit";
import { vendor, vendorName } from "./options.ts";

/** The part of the wire that is read; everything may be missing, because compatible servers leave much out. */
interface WireEvent {
  readonly type?: string;
  readonly index?: number;
  readonly message?: WireAnswer;
  readonly content_block?: WireBlock;
  readonly delta?: WireDelta;
  readonly usage?: WireUsage | null;
}

export interface WireAnswer extends WireDelta {
  readonly model?: string;
  readonly content?: readonly WireBlock[];
  readonly usage?: WireUsage | null;
}

interface WireBlock {
  readonly type?: string;
  readonly [key: string]: Json | undefined;
}

interface WireDelta {
  readonly type?: string;
  readonly text?: string;
  readonly thinking?: string;
  readonly signature?: string;
  readonly partial_json?: string;
  readonly citation?: Json;
  readonly stop_reason?: string | null;
  readonly stop_details?: { readonly category?: string | null; readonly explanation?: string | null } | null;
}

interface WireUsage {
  readonly input_tokens?: number | null;
  readonly cache_creation_input_tokens?: number | null;
  readonly cache_read_input_tokens?: number | null;
  readonly output_tokens?: number | null;
  readonly output_tokens_details?: { readonly thinking_tokens?: number | null } | null;
}

/** What is known of a block until it stops. */
interface OpenBlock {
  readonly kind: "text" | "thinking" | "call" | "opaque";
  /** As it started. */
  readonly start: WireBlock;
  signature: string;
  citations: Json[];
  /** Something was sent for it. */
  filled: boolean;
  /** The input of a server tool, in pieces. */
  input: string[];
  /** Deltas of a kind that is not known here. */
  more: WireDelta[];
}

/** Turns events into chunks. */
export interface Decoder {
  /** The chunks of the events of one read. What follows the vendor's own end is ignored. @throws AgentError for an error event; SyntaxError for what is no JSON. */
  takeAll(events: readonly SseEvent[]): readonly ModelChunk[];
  /** True once the vendor's own end came. */
  readonly ended: boolean;
}

/** A decoder for one answer. */
export function createDecoder(): Decoder {
  const blocks: (OpenBlock | undefined)[] = [];
  let model: string | undefined;
  let stopReason: string | undefined;
  let stopDetails: WireDelta["stop_details"];
  let hasCalls = false;
  let ended = false;

  const takeDelta = (index: number, delta: WireDelta, out: ModelChunk[]): void => {
    let block = blocks[index];
    if (!block) {
      // A server that leaves the start of a block out.
      const type = delta.type === "text_delta" ? "text" : delta.type === "thinking_delta" ? "thinking" : undefined;
      if (type === undefined) return;
      block = startBlock(index, { type }, out);
      blocks[index] = block;
    }
    if (delta.type === "text_delta" || delta.type === "thinking_delta") {
      const piece = delta.type === "text_delta" ? delta.text : delta.thinking;
      if (piece && (block.kind === "text" || block.kind === "thinking")) {
        block.filled = true;
        out.push({ type: block.kind, index, delta: piece });
      }
    } else if (delta.type === "input_json_delta") {
      if (!delta.partial_json) return;
      block.filled = true;
      if (block.kind === "call") out.push({ type: "call-args", index, delta: delta.partial_json });
      else block.input.push(delta.partial_json);
    } else if (delta.type === "signature_delta") block.signature += delta.signature ?? "";
    else if (delta.type === "citations_delta") {
      if (delta.citation !== undefined) block.citations.push(delta.citation);
    } else if (block.kind === "opaque") block.more.push(delta);
  };

  const take = (event: WireEvent, out: ModelChunk[]): void => {
    const index = event.index ?? 0;
    switch (event.type) {
      case "content_block_delta":
        if (event.delta) takeDelta(index, event.delta, out);
        return;
      case "content_block_start":
        blocks[index] = startBlock(index, event.content_block ?? {}, out);
        hasCalls ||= blocks[index].kind === "call";
        return;
      case "content_block_stop":
        stopBlock(index, blocks[index], out);
        blocks[index] = undefined;
        return;
      case "message_start":
        model = event.message?.model;
        pushUsage(event.message?.usage, out);
        return;
      case "message_delta":
        stopReason = event.delta?.stop_reason ?? stopReason;
        stopDetails = event.delta?.stop_details ?? stopDetails;
        pushUsage(event.usage, out);
        return;
      case "message_stop":
        ended = true;
        out.push(endOf({ raw: stopReason, details: stopDetails, model, hasCalls }));
        return;
      case "ping":
        out.push({ type: "alive" });
        return;
      case "error":
        throw errorFromStatus({ provider: vendorName, ...vendorErrorOf(event) });
    }
  };

  return {
    takeAll: (events) => {
      const out: ModelChunk[] = [];
      for (const event of events) {
        if (ended) break;
        const parsed: WireEvent | null = JSON.parse(event.data);
        if (parsed) take(parsed, out);
      }
      return out;
    },
    get ended() {
      return ended;
    },
  };
}

/** The chunks of an answer that was not streamed. @throws AgentError for an error with status 200, MODEL_PROTOCOL for what is no answer. */
export function chunksOf(answer: WireAnswer): readonly ModelChunk[] {
  if (answer?.type === "error") throw errorFromStatus({ provider: vendorName, ...vendorErrorOf(answer) });
  if (!Array.isArray(answer?.content)) {
    throw new AgentError("MODEL_PROTOCOL", { message: `${vendorName} sent JSON that is no message.` });
  }
  const out: ModelChunk[] = [];
  answer.content.forEach((block, index) => {
    stopBlock(index, startBlock(index, block, out), out);
  });
  pushUsage(answer.usage, out);
  const hasCalls = answer.content.some(({ type }) => kindOf(type) === "call");
  out.push(endOf({ raw: answer.stop_reason ?? undefined, details: answer.stop_details, model: answer.model, hasCalls }));
  return out;
}

function startBlock(index: number, start: WireBlock, out: ModelChunk[]): OpenBlock {
  const block: OpenBlock = { kind: kindOf(start.type), start, signature: "", citations: [], filled: false, input: [], more: [] };
  if (block.kind === "call") {
    const id = textOf(start["id"]);
    out.push({ type: "call-start", index, ...(id === "" ? {} : { id }), name: textOf(start["name"]) });
  } else if (block.kind !== "opaque") {
    const delta = textOf(start[block.kind]);
    block.filled = delta !== "";
    if (block.filled) out.push({ type: block.kind, index, delta });
    block.signature = textOf(start["signature"]);
    if (Array.isArray(start["citations"])) block.citations.push(...(start["citations"] as readonly Json[]));
  }
  return block;
}

function stopBlock(index: number, block: OpenBlock | undefined, out: ModelChunk[]): void {
  if (!block) return;
  if (block.kind === "opaque") out.push({ type: "opaque", index, vendor, data: wholeBlock(block) });
  else if (block.kind === "call") {
    const input = block.start["input"];
    if (!block.filled && isObject(input) && Object.keys(input).length > 0)
      out.push({ type: "call-args", index, delta: JSON.stringify(input) });
    const caller = block.start["caller"];
    if (isObject(caller) && caller["type"] !== "direct") out.push({ type: "opaque", index, vendor, data: { caller } });
    out.push({ type: "call-end", index });
  } else if (block.signature !== "") {
    // Thinking whose text is omitted is still a thinking block.
    if (!block.filled) out.push({ type: block.kind, index, delta: "" });
    out.push({ type: "opaque", index, vendor, data: { signature: block.signature } });
  } else if (block.citations.length > 0 && block.filled) {
    out.push({ type: "opaque", index, vendor, data: { citations: block.citations } });
  }
}

/** A block without a form of ours as it is to be sent back: its input, streamed in pieces, put in its place. */
function wholeBlock({ start, input, more }: OpenBlock): JsonObject {
  const fields = new Map<string, Json | undefined>(Object.entries(start));
  for (const { type: _, ...delta } of more) {
    for (const [key, value] of Object.entries(delta)) {
      const before = fields.get(key);
      fields.set(key, typeof before === "string" && typeof value === "string" ? before + value : (value as Json));
    }
  }
  if (input.length > 0) fields.set("input", parsedInput(input.join("")));
  return Object.fromEntries(fields) as JsonObject;
}

/** The input of a server tool; one that was cut by max_tokens never ran. */
function parsedInput(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

function kindOf(type: string | undefined): OpenBlock["kind"] {
  if (type === "text" || type === "thinking") return type;
  return type === "tool_use" ? "call" : "opaque";
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `input_tokens` is without cache reads and writes, as ours is. @see https://platform.claude.com/docs/en/build-with-claude/prompt-caching (2026-11-21) */
function pushUsage(wire: WireUsage | null | undefined, out: ModelChunk[]): void {
  if (!wire) return;
  const usage: { -readonly [Count in keyof Usage]: Usage[Count] } = {};
  if (typeof wire.input_tokens === "number") usage.input = wire.input_tokens;
  if (typeof wire.cache_read_input_tokens === "number") usage.cacheRead = wire.cache_read_input_tokens;
  if (typeof wire.cache_creation_input_tokens === "number") usage.cacheWrite = wire.cache_creation_input_tokens;
  if (typeof wire.output_tokens === "number") usage.output = wire.output_tokens;
  const reasoning = wire.output_tokens_details?.thinking_tokens;
  if (typeof reasoning === "number") usage.reasoning = reasoning;
  out.push({ type: "usage", usage });
}

interface Ending {
  readonly raw: string | undefined;
  readonly details: WireDelta["stop_details"];
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

function refusalText(details: WireDelta["stop_details"]): string {
  const category = details?.category ? ` (${details.category})` : "";
  const explanation = details?.explanation ? ` ${details.explanation}` : "";
  return `The model declined to answer${category}.${explanation}`;
}
