import type { ModelChunk } from "./chunk.ts";
import type { ArgsProblem, AssistantPart, Opaque, ToolCallPart } from "./content.ts";
import { GrowingText } from "./growing-text.ts";
import { findJsonFlaw, type JsonObject } from "./json.ts";
import type { StopReason } from "./message.ts";
import type { Usage } from "./usage.ts";
import { wellFormedJson } from "./well-formed-text.ts";

type Block =
  | { readonly type: "text" | "thinking"; readonly written: GrowingText; opaque?: Opaque }
  | { readonly type: "call"; readonly id: string; readonly name: string; readonly written: GrowingText; ended: boolean; opaque?: Opaque }
  | { readonly type: "opaque"; opaque: Opaque };

/** A call whose arguments are being streamed. */
export interface StartedCall {
  /** The index from its `toolcall_start`. */
  readonly index: number;
  readonly toolName: string;
  /** The joined `toolcall_delta`s so far. */
  readonly argsText: string;
}

/** The content of a stream so far. `ended` is absent until the `end` chunk. */
export interface Assembled {
  readonly parts: readonly AssistantPart[];
  readonly usage?: Usage;
  readonly ended?: { readonly stopReason: StopReason; readonly raw?: string; readonly message?: string; readonly model?: string };
}

/** Folds chunks into the parts of one assistant message. Constant cost per chunk; pieces are joined and parsed once. */
export interface Assembler {
  /** Takes one chunk. A chunk that fits no block is ignored; the provider kit forbids such chunks. */
  push(chunk: ModelChunk): void;
  /** The whole message; `callKeyPrefix` is `<runId>.<turn>`. */
  finish(callKeyPrefix: string): Assembled;
  /** Text, thinking and opaque parts so far, without incomplete calls. For drafts, snapshots and aborted answers. */
  partial(): readonly AssistantPart[];
  /** The calls that have begun, with their arguments so far. */
  calls(): readonly StartedCall[];
  /** The text so far of a text or thinking block; empty for others. */
  textAt(index: number): string;
}

export function createAssembler(): Assembler {
  const blocks = new Map<number, Block>();
  /** An index is a vendor's number: it gives the position of a block, not the number of blocks. */
  const inOrder = (): readonly (readonly [number, Block])[] => [...blocks].sort(([a], [b]) => a - b);
  const usage: { -readonly [K in keyof Usage]: Usage[K] } = {};
  let usageSeen = false;
  let ended: Assembled["ended"];

  const push = (chunk: ModelChunk): void => {
    switch (chunk.type) {
      case "text":
      case "thinking":
      case "call-args": {
        const block = blocks.get(chunk.index);
        if (block && block.type !== "opaque") block.written.add(chunk.delta);
        else if (chunk.type !== "call-args") {
          const written = new GrowingText();
          written.add(chunk.delta);
          blocks.set(chunk.index, { type: chunk.type, written, ...(block ? { opaque: block.opaque } : {}) });
        }
        return;
      }
      case "call-start":
        if (blocks.has(chunk.index)) return;
        blocks.set(chunk.index, { type: "call", id: chunk.id ?? "", name: chunk.name, written: new GrowingText(), ended: false });
        return;
      case "call-end": {
        const block = blocks.get(chunk.index);
        if (block?.type === "call") block.ended = true;
        return;
      }
      case "opaque": {
        const opaque = { vendor: chunk.vendor, data: chunk.data };
        const block = blocks.get(chunk.index);
        if (block) block.opaque = opaque;
        else blocks.set(chunk.index, { type: "opaque", opaque });
        return;
      }
      case "usage":
        Object.assign(usage, chunk.usage);
        usageSeen = true;
        return;
      case "alive":
      case "block-end":
        return;
      case "end": {
        const { type: _, ...rest } = chunk;
        ended = rest;
        return;
      }
      default:
        chunk satisfies never;
    }
  };

  return {
    push,
    finish: (callKeyPrefix) => ({
      parts: partsFrom(inOrder(), { callKeyPrefix, truncated: ended?.stopReason === "length" }),
      ...(usageSeen ? { usage } : {}),
      ...(ended ? { ended } : {}),
    }),
    partial: () => partsFrom(inOrder()),
    calls: () =>
      inOrder().flatMap(([index, block]) =>
        block.type === "call" ? [{ index, toolName: block.name, argsText: block.written.toString() }] : [],
      ),
    textAt(index) {
      const block = blocks.get(index);
      return block?.type === "text" || block?.type === "thinking" ? block.written.toString() : "";
    },
  };
}

/** Without `calls`, the calls and the opaque parts that belong to them are left out. */
function partsFrom(
  blocks: readonly (readonly [number, Block])[],
  calls?: { callKeyPrefix: string; truncated: boolean },
): readonly AssistantPart[] {
  const parts: AssistantPart[] = [];
  const ids = new Set<string>();
  let ordinal = 0;
  for (const [, block] of blocks) {
    if (block.type === "opaque") parts.push({ type: "opaque", ...block.opaque });
    else if (block.type === "call") {
      if (!calls) continue;
      const callKey = `${calls.callKeyPrefix}.${ordinal++}`;
      const id = block.id === "" || ids.has(block.id) ? callKey : block.id;
      ids.add(id);
      parts.push(callFrom(block, { callKey, id, truncated: calls.truncated }));
    } else {
      const text = block.written.toString();
      if (text !== "" || block.opaque) parts.push({ type: block.type, text, ...(block.opaque ? { opaque: block.opaque } : {}) });
    }
  }
  return parts;
}

function callFrom(
  block: Extract<Block, { type: "call" }>,
  { callKey, id, truncated }: { callKey: string; id: string; truncated: boolean },
): ToolCallPart {
  const text = block.written.toString();
  const parsed = parseArguments(text, truncated);
  const base = { type: "tool_call", callKey, id, name: block.name, ...(block.opaque ? { opaque: block.opaque } : {}) } as const;
  return typeof parsed === "string" ? { ...base, args: {}, argsText: text, problem: parsed } : { ...base, args: wellFormedJson(parsed) };
}

/** Reads the arguments of a call. Blank text is `{}`, which the schema then checks. Any other unusable text is reported, never replaced by `{}`. */
export function parseArguments(text: string, truncated = false): JsonObject | ArgsProblem {
  if (text.trim() === "") return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return truncated ? "truncated" : "invalid_json";
  }
  if (value === null || typeof value !== "object" || Array.isArray(value)) return "not_an_object";
  const flaw = findJsonFlaw(value);
  if (flaw === "too_deep" || flaw === "forbidden_key") return flaw;
  return flaw ? "invalid_json" : (value as JsonObject);
}
