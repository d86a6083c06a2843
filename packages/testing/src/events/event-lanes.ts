import { type AgentEvent, type EphemeralEvent, textOf } from "@loopwright/core";
import { lastNumber } from "@loopwright/core/internals";

interface Lane {
  n: number;
  isOpen: boolean;
  /** False as soon as something of it is missing: then only the numbers count. */
  isWhole: boolean;
  /** The call of a tool's lane. */
  readonly callKey?: string;
  /** Of each text or thinking block and each call that has begun: what its deltas add up to. */
  readonly open: Map<string, string>;
  /** Length of all text so far: of the last snapshot and the deltas after it. */
  textLength: number;
  /** An event is missing, and no snapshot has come since. */
  hasGap: boolean;
}

/** What the lanes of one stream allow. Answers are what is wrong, or `undefined`. */
export interface EventLanes {
  /** Opens and closes lanes. */
  durable(event: AgentEvent): string | undefined;
  ephemeral(event: EphemeralEvent): { readonly flaw?: string; readonly isWhole: boolean };
}

/** `isLossy`: deltas may be missing anywhere. `joins`: lanes may have been opened before the stream began. */
export function createEventLanes({ isLossy, joins }: { readonly isLossy: boolean; readonly joins: boolean }): EventLanes {
  const lanes = new Map<number, Lane>();
  let firstSeq = Number.POSITIVE_INFINITY;
  const open = (lane: number, isWhole: boolean, callKey?: string): Lane => {
    const opened: Lane = {
      n: 0,
      isOpen: true,
      isWhole,
      open: new Map(),
      textLength: 0,
      hasGap: false,
      ...(callKey === undefined ? {} : { callKey }),
    };
    lanes.set(lane, opened);
    return opened;
  };
  const close = (mine: (lane: Lane) => boolean): Lane | undefined => {
    const found = [...lanes.values()].find((lane) => lane.isOpen && mine(lane));
    if (found) found.isOpen = false;
    return found;
  };
  return {
    durable(event) {
      if (!("seq" in event)) return undefined;
      firstSeq = Math.min(firstSeq, event.seq);
      if (event.type === "message_start" && event.role === "assistant") {
        close(({ callKey }) => callKey === undefined);
        open(event.seq, !isLossy);
      }
      if (event.type === "tool_execution_start") {
        close(({ callKey }) => callKey === event.callKey);
        open(event.seq, !isLossy, event.callKey);
      }
      if (event.type === "tool_execution_end") close(({ callKey }) => callKey === event.callKey);
      if (event.type === "attempt_discarded") close(({ callKey }) => callKey === undefined);
      if (event.type !== "message_end" || event.message.role !== "assistant") return undefined;
      const lane = close(({ callKey }) => callKey === undefined);
      const wasCut = event.message.stopReason === "aborted" || event.message.stopReason === "error";
      if (!lane || wasCut || (!lane.isWhole && lane.n === 0)) return undefined;
      if (lane.hasGap) return "got message_end without what was missing of it";
      const [unended] = lane.open.keys();
      if (lane.isWhole && unended !== undefined) return `got message_end before the end of ${unended}`;
      return lane.textLength === textOf(event.message).length ? undefined : "got message_end with another text than its deltas";
    },
    ephemeral(event) {
      const lane = lanes.get(event.lane) ?? (joins && event.lane < firstSeq ? open(event.lane, false, callOf(event)) : undefined);
      if (!lane) return { flaw: `got ${event.type} before lane ${event.lane} was opened`, isWhole: false };
      if (!lane.isOpen) return { flaw: `got ${event.type} after lane ${event.lane} was closed`, isWhole: lane.isWhole };
      const isSnapshot = event.type === "message_snapshot" || event.type === "tool_execution_snapshot";
      if (isSnapshot && !isLossy && lane.isWhole && event.n === lastNumber)
        return { flaw: `got a snapshot in place of what lane ${event.lane} has sent`, isWhole: false };
      if (isSnapshot) lane.isWhole = false;
      // The last word on an answer, cut off before its end: another node may know less of it.
      if (isSnapshot && joins && lane.n === lastNumber) lane.n = 0;
      const isNext = lane.isWhole ? event.n === lane.n + 1 : event.n > lane.n || (isSnapshot && event.n === lane.n);
      if (!isNext)
        return { flaw: `got ${event.type} number ${event.n} of lane ${event.lane} after number ${lane.n}`, isWhole: lane.isWhole };
      lane.hasGap = !isSnapshot && (lane.hasGap || event.n !== lane.n + 1);
      lane.n = event.n;
      if (event.type === "message_snapshot")
        lane.textLength = event.content.reduce((sum, part) => sum + (part.type === "text" ? part.text.length : 0), 0);
      if (!lane.isWhole && event.type === "text_delta") lane.textLength += event.delta.length;
      const flaw = lane.isWhole ? addUp(lane, event) : undefined;
      return { isWhole: lane.isWhole, ...(flaw === undefined ? {} : { flaw }) };
    },
  };
}

/** The call that runs in the lane of this event; `undefined`: the lane is an answer's. Each event of a tool names its call. */
const callOf = (event: EphemeralEvent): string | undefined => ("callKey" in event ? event.callKey : undefined);

/** Keeps the sums of open blocks; an end must hold its block's. */
function addUp(lane: Lane, event: EphemeralEvent): string | undefined {
  if (!("index" in event)) return undefined;
  const [, kind, phase] = /^(.*)_(start|delta|end)$/.exec(event.type) ?? [];
  const { open } = lane;
  const block = `${kind} ${event.index}`;
  if (event.type === "text_delta") lane.textLength += event.delta.length;
  if (phase === "start") open.set(block, "");
  if ("delta" in event) open.set(block, (open.get(block) ?? "") + event.delta);
  if (phase !== "end") return undefined;
  const sum = open.get(block);
  open.delete(block);
  const written = event.type === "text_end" ? event.text : event.type === "thinking_end" ? event.thinking : sum;
  return sum === undefined || written === sum ? undefined : `got ${event.type} index ${event.index} with another text than its deltas`;
}
