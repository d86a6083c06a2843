import type { EphemeralBody, EphemeralEvent } from "../../loop/event.ts";
import type { StartedCall } from "../../message/assemble-message.ts";
import type { AssistantPart, ToolCallPart } from "../../message/content.ts";
import type { ProgressStep } from "../../message/message.ts";

/** What a lane has streamed so far, folded from its events. Constant cost per event. */
export interface LaneSnapshot {
  /** Number of the last event folded; 0 if none was. */
  readonly n: number;
  /** Folds the event numbered `n + 1`, or a snapshot with a higher number than `n`. False for any other event, which is ignored. */
  take(event: EphemeralEvent): boolean;
  /** A snapshot that replaces all events folded so far. */
  snapshot(): EphemeralBody;
}

/** `call`: the call of a tool's lane; `undefined` for the lane of an answer. */
export function createLaneSnapshot(call: ToolCallPart | undefined): LaneSnapshot {
  const content = call ? toolFold(call) : answerFold();
  let n = 0;
  return {
    get n() {
      return n;
    },
    take(event) {
      const isSnapshot = event.type === "message_snapshot" || event.type === "tool_execution_snapshot";
      if (event.n !== n + 1 && !(isSnapshot && event.n > n)) return false;
      n = event.n;
      content.take(event);
      return true;
    },
    snapshot: content.snapshot,
  };
}

interface LaneContent {
  take(event: EphemeralBody): void;
  snapshot(): EphemeralBody;
}

/** A block of an answer: text that may grow, a call whose arguments are still streamed, or a complete part. */
interface Block {
  readonly part: AssistantPart | { readonly type: "half_call"; readonly toolName: string };
  /** Deltas in order; joined when a snapshot is made. */
  pieces: string[];
  index: number | undefined;
}

/**
 * The complete parts of a snapshot have no index, so the first delta of an unknown index may belong to the last of them. It continues the last block if
 * that is a complete part of the same type; otherwise it begins a new block. Half-written calls keep their index.
 */
function answerFold(): LaneContent {
  let blocks: Block[] = [];
  let byIndex = new Map<number, Block>();

  const add = (block: Block, index: number): Block => {
    block.index = index;
    byIndex.set(index, block);
    blocks.splice(blocks.findLastIndex((other) => (other.index ?? -1) < index) + 1, 0, block);
    return block;
  };
  const blockOf = (type: "text" | "thinking", index: number): Block => {
    const known = byIndex.get(index);
    if (known) return known;
    const last = blocks.at(-1);
    if (last?.index !== undefined || last?.part.type !== type) return add({ part: { type, text: "" }, pieces: [], index }, index);
    last.index = index;
    byIndex.set(index, last);
    return last;
  };
  const replace = (index: number, block: Block): void => {
    const known = byIndex.get(index);
    if (!known) return void add(block, index);
    byIndex.set(index, block);
    blocks[blocks.indexOf(known)] = block;
  };
  const halfCall = (toolName: string, pieces: string[], index: number): Block => ({ part: { type: "half_call", toolName }, pieces, index });

  const restart = ({ content, calls = [] }: Extract<EphemeralBody, { type: "message_snapshot" }>): void => {
    blocks = content.map((part) => ({ part, pieces: "text" in part ? [part.text] : [], index: undefined }));
    byIndex = new Map();
    for (const { index, toolName, argsText } of calls) add(halfCall(toolName, [argsText], index), index);
  };

  return {
    take(event) {
      switch (event.type) {
        case "message_snapshot":
          return restart(event);
        case "text_delta":
        case "thinking_delta":
          blockOf(event.type === "text_delta" ? "text" : "thinking", event.index).pieces.push(event.delta);
          return;
        case "text_end":
          blockOf("text", event.index).pieces = [event.text];
          return;
        case "thinking_end":
          blockOf("thinking", event.index).pieces = [event.thinking];
          return;
        case "toolcall_start":
          return replace(event.index, halfCall(event.toolName, [], event.index));
        case "toolcall_delta":
          byIndex.get(event.index)?.pieces.push(event.delta);
          return;
        case "toolcall_end":
          return replace(event.index, { part: event.toolCall, pieces: [], index: event.index });
        default:
      }
    },
    snapshot() {
      const calls = blocks.flatMap(startedCall);
      return { type: "message_snapshot", content: blocks.flatMap(partOf), ...(calls.length > 0 ? { calls } : {}) };
    },
  };
}

function startedCall(block: Block): readonly StartedCall[] {
  const { part, index } = block;
  return part.type === "half_call" && index !== undefined ? [{ index, toolName: part.toolName, argsText: joined(block) }] : [];
}

function partOf(block: Block): readonly AssistantPart[] {
  const { part } = block;
  if (part.type === "half_call") return [];
  if (part.type !== "text" && part.type !== "thinking") return [part];
  const text = joined(block);
  return text === "" && !part.opaque ? [] : [{ ...part, text }];
}

/** Keeps the joined text, so that the next snapshot does not join the same pieces again. */
function joined(block: Block): string {
  if (block.pieces.length > 1) block.pieces = [block.pieces.join("")];
  return block.pieces[0] ?? "";
}

/** Trimming keeps this many characters of a tool's output, as the owner does for its own snapshots (`partialMax`). */
const outputMax = 64 * 1024;

function toolFold({ id: toolCallId, callKey }: ToolCallPart): LaneContent {
  let output = "";
  let steps = new Map<string, ProgressStep>();
  return {
    take(event) {
      switch (event.type) {
        case "tool_execution_snapshot":
          output = event.output;
          steps = new Map(event.progress?.map((step) => [step.id, step]));
          return;
        case "tool_execution_delta":
          output += event.delta;
          if (output.length > 2 * outputMax) output = output.slice(-outputMax);
          return;
        case "progress": {
          const { id, title, icon, state } = event;
          steps.set(id, { id, title, ...(icon === undefined ? {} : { icon }), state });
          return;
        }
        default:
      }
    },
    snapshot: () => ({
      type: "tool_execution_snapshot",
      toolCallId,
      callKey,
      output,
      ...(steps.size === 0 ? {} : { progress: [...steps.values()] }),
    }),
  };
}
