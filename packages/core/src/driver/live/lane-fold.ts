import type { EphemeralBody, EphemeralEvent } from "../../loop/event.ts";
import type { ProgressStep } from "../../loop/fact.ts";
import type { StartedCall } from "../../message/assemble.ts";
import type { AssistantPart, ToolCallPart } from "../../message/content.ts";

/** What a lane has said so far, folded from its events. Constant cost per event. */
export interface LaneFold {
  /** Number of the last event folded; 0: none. */
  readonly n: number;
  /** Folds the event that comes next, or a later snapshot. False for any other: it changes nothing. */
  take(event: EphemeralEvent): boolean;
  /** What replaces all events so far. */
  snapshot(): EphemeralBody;
}

/** Without a call: the lane of an answer. */
export function createLaneFold(call: ToolCallPart | undefined): LaneFold {
  const said = call ? toolFold(call) : answerFold();
  let n = 0;
  return {
    get n() {
      return n;
    },
    take(event) {
      const isSnapshot = event.type === "message_snapshot" || event.type === "tool_execution_snapshot";
      if (event.n !== n + 1 && !(isSnapshot && event.n > n)) return false;
      n = event.n;
      said.take(event);
      return true;
    },
    snapshot: said.snapshot,
  };
}

interface Said {
  take(event: EphemeralBody): void;
  snapshot(): EphemeralBody;
}

/** A block of an answer: text or a call in the making, or a part as it is. */
interface Block {
  readonly part: AssistantPart | { readonly type: "half_call"; readonly toolName: string };
  /** In order; joined when somebody asks. */
  pieces: string[];
  index: number | undefined;
}

/** Parts of a snapshot have no index: what goes on with its last part is told by its type. Calls that are half written have theirs. */
function answerFold(): Said {
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

/** Joins once and keeps the joined form, so that repeated snapshots stay linear. */
function joined(block: Block): string {
  if (block.pieces.length > 1) block.pieces = [block.pieces.join("")];
  return block.pieces[0] ?? "";
}

/** The owner keeps as much of a tool's output for its own snapshots. */
const outputMax = 64 * 1024;

function toolFold({ id: toolCallId, callKey }: ToolCallPart): Said {
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
