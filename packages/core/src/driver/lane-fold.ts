import type { EphemeralBody, EphemeralEvent } from "../loop/event.ts";
import type { ProgressStep } from "../loop/fact.ts";
import type { AssistantPart, ToolCallPart } from "../message/content.ts";

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

/** A block of an answer: text in the making, or a part as it is. */
interface Block {
  readonly part: AssistantPart;
  /** In order; joined when somebody asks. */
  pieces: string[];
  index: number | undefined;
}

/** Parts of a snapshot have no index: what goes on with its last part is told by its type. */
function answerFold(): Said {
  let blocks: Block[] = [];
  let byIndex = new Map<number, Block>();

  const blockOf = (type: "text" | "thinking", index: number): Block => {
    const known = byIndex.get(index);
    if (known) return known;
    const last = blocks.at(-1);
    const goesOn = last?.index === undefined && last?.part.type === type;
    const block: Block = goesOn ? last : { part: { type, text: "" }, pieces: [], index };
    block.index = index;
    byIndex.set(index, block);
    if (!goesOn) blocks.splice(blocks.findLastIndex((other) => (other.index ?? -1) < index) + 1, 0, block);
    return block;
  };

  return {
    take(event) {
      switch (event.type) {
        case "message_snapshot":
          blocks = event.content.map((part) => ({ part, pieces: "text" in part ? [part.text] : [], index: undefined }));
          byIndex = new Map();
          return;
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
        default:
      }
    },
    snapshot: () => ({ type: "message_snapshot", content: blocks.flatMap(partOf) }),
  };
}

function partOf(block: Block): readonly AssistantPart[] {
  const { part } = block;
  if (part.type !== "text" && part.type !== "thinking") return [part];
  block.pieces = [block.pieces.join("")];
  const [text = ""] = block.pieces;
  return text === "" && !part.opaque ? [] : [{ ...part, text }];
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
