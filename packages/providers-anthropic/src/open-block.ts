import type { Json, JsonObject, ModelChunk } from "@loopwright/core";
import { listIn, recordIn, textIn } from "@loopwright/provider-kit";
import { vendor } from "./options.ts";
import type { WireBlock, WireDelta } from "./wire.ts";

/** A block between its start and its stop. */
export interface OpenBlock {
  readonly index: number;
  readonly kind: "text" | "thinking" | "call" | "opaque";
  /** As it started. */
  readonly start: WireBlock;
  /** A chunk of it was emitted. */
  filled: boolean;
  signature: string;
  readonly citations: Json[];
  /** The input of a server tool, in pieces. */
  readonly input: string[];
  /** Deltas of a kind that is not known here. */
  readonly more: WireDelta[];
}

/** What a block is to us: text, thinking, a call, or something only the vendor understands. */
export function kindOf(type: string | undefined): OpenBlock["kind"] {
  if (type === "text" || type === "thinking") return type;
  return type === "tool_use" ? "call" : "opaque";
}

/** Opens a block and emits the content of its start event. */
export function startBlock(index: number, start: WireBlock, out: ModelChunk[]): OpenBlock {
  const block: OpenBlock = { index, kind: kindOf(start.type), start, signature: "", citations: [], filled: false, input: [], more: [] };
  if (block.kind === "call") {
    const id = textOf(start["id"], "the id of a tool call");
    out.push({ type: "call-start", index, ...(id === "" ? {} : { id }), name: textOf(start["name"], "the name of a tool call") });
  } else if (block.kind !== "opaque") {
    const delta = textOf(start[block.kind], "a text");
    block.filled = delta !== "";
    if (block.filled) out.push({ type: block.kind, index, delta });
    block.signature = textOf(start["signature"], "a signature");
    block.citations.push(...listIn(start["citations"] as readonly JsonObject[] | undefined, "a list of citations"));
  }
  return block;
}

/** Adds a delta to a block. */
export function extendBlock(block: OpenBlock, delta: WireDelta, out: ModelChunk[]): void {
  const { kind, index } = block;
  if (delta.type === "text_delta" || delta.type === "thinking_delta") {
    const piece = textIn(delta.type === "text_delta" ? delta.text : delta.thinking, "a delta");
    if (!piece || (kind !== "text" && kind !== "thinking")) return;
    block.filled = true;
    out.push({ type: kind, index, delta: piece });
  } else if (delta.type === "input_json_delta") {
    const piece = textIn(delta.partial_json, "the input of a tool call");
    if (!piece) return;
    block.filled = true;
    if (kind === "call") out.push({ type: "call-args", index, delta: piece });
    else block.input.push(piece);
  } else if (delta.type === "signature_delta") block.signature += textIn(delta.signature, "a signature") ?? "";
  else if (delta.type === "citations_delta") {
    if (delta.citation !== undefined) block.citations.push(delta.citation);
  } else if (kind === "opaque") block.more.push(delta);
}

/** Emits what is known, or valid, only when a block is complete: a signature is valid only with its whole text. */
export function stopBlock(block: OpenBlock, out: ModelChunk[]): void {
  const { index } = block;
  if (block.kind === "opaque") out.push({ type: "opaque", index, vendor, data: wholeBlock(block) });
  else if (block.kind === "call") {
    const input = recordIn(block.start["input"] as JsonObject | undefined, "the input of a tool call");
    const { caller } = block.start;
    if (!block.filled && input && Object.keys(input).length > 0) out.push({ type: "call-args", index, delta: JSON.stringify(input) });
    if (isObject(caller) && caller["type"] !== "direct") out.push({ type: "opaque", index, vendor, data: { caller } });
    out.push({ type: "call-end", index });
  } else if (block.signature !== "") {
    // Thinking whose text is omitted is still a thinking block.
    if (!block.filled) out.push({ type: block.kind, index, delta: "" });
    out.push({ type: "opaque", index, vendor, data: { signature: block.signature } });
  } else if (block.citations.length > 0 && block.filled) {
    out.push({ type: "opaque", index, vendor, data: { citations: block.citations } });
  }
  const isText = block.kind === "text" || block.kind === "thinking";
  if (isText && (block.filled || block.signature !== "")) out.push({ type: "block-end", index });
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

function textOf(value: Json | undefined, what: string): string {
  return textIn(value, what) ?? "";
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
