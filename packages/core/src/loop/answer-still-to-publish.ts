import type { AssistantPart } from "../message/content.ts";
import { type AssistantMessage, callsOf, textOf } from "../message/message.ts";
import type { AgentEvent, DurableEvent, EphemeralBody, EphemeralEvent } from "./event.ts";

/** The lane of the answer that is being written after the event, given the lane before it. */
export function answeringAfter(event: AgentEvent, lane: number | undefined): number | undefined {
  if (event.type === "message_start" && event.role === "assistant") return event.seq;
  return answerOf(event) || event.type === "attempt_discarded" || event.type === "run_end" ? undefined : lane;
}

/** The answer that an event ends. */
export function answerOf(event: AgentEvent): AssistantMessage | undefined {
  return event.type === "message_end" && event.message.role === "assistant" ? event.message : undefined;
}

/** A whole answer as one snapshot of its lane. */
function answerSnapshot({ content }: AssistantMessage): EphemeralBody {
  return { type: "message_snapshot", content };
}

/** A whole answer as the events of a lane that has published nothing yet: for readers that accumulate deltas. */
function answerDeltas({ content }: AssistantMessage): readonly EphemeralBody[] {
  return content.flatMap(partDeltas);
}

function partDeltas(part: AssistantPart, index: number): readonly EphemeralBody[] {
  switch (part.type) {
    case "text": {
      const { text } = part;
      return [
        { type: "text_start", index },
        { type: "text_delta", index, delta: text },
        { type: "text_end", index, text },
      ];
    }
    case "thinking": {
      const { text } = part;
      return [
        { type: "thinking_start", index },
        { type: "thinking_delta", index, delta: text },
        { type: "thinking_end", index, thinking: text },
      ];
    }
    case "tool_call":
      return [
        { type: "toolcall_start", index, toolName: part.name },
        { type: "toolcall_delta", index, delta: part.argsText ?? JSON.stringify(part.args) },
        { type: "toolcall_end", index, toolCall: part },
      ];
    default:
      return [];
  }
}

/** True if a lane with these published events has published the whole answer: its text, its thinking and its calls. */
export function hasWritten(written: EphemeralBody | undefined, message: AssistantMessage): boolean {
  if (written?.type !== "message_snapshot") return message.content.length === 0;
  const { content } = written;
  const keys = (parts: readonly AssistantPart[]): string =>
    parts.flatMap((part) => (part.type === "tool_call" ? [part.callKey] : [])).join();
  return (
    textIn(content, "text") === textOf(message) &&
    textIn(content, "thinking") === textIn(message.content, "thinking") &&
    keys(content) ===
      callsOf(message)
        .map(({ callKey }) => callKey)
        .join()
  );
}

const textIn = (parts: readonly AssistantPart[], type: "text" | "thinking"): string =>
  parts.map((part) => (part.type === type ? part.text : "")).join("");

/** Number of the snapshot right before the end of an answer. It is higher than all others, because the node that sends it may not know the last number of another node (decision 0020). */
export const lastNumber: number = 2 ** 31 - 1;

/** The events that the lane of an answer must still publish before its end, after this many events. */
export function unsentOf(
  answer: AssistantMessage,
  { lane, written }: { readonly lane: number; readonly written: number },
): readonly EphemeralEvent[] {
  if (written > 0) return [{ ...answerSnapshot(answer), lane, n: lastNumber }];
  return answerDeltas(answer).map((body, i) => ({ ...body, lane, n: i + 1 }));
}

/** Replays durable events to a reader that may have received a part of an answer, or none of it. */
export interface AnswerReplay {
  /** The events to send right before this event. `isNew`: the reader does not have it. */
  before(event: DurableEvent, isNew: boolean): readonly EphemeralEvent[];
}

/**
 * An answer of which the reader has a part is sent whole, as a snapshot. `addsUp`: an answer that is new to the reader is sent as deltas; otherwise
 * only its end is sent. `lane`: the lane of the answer that was being written before the first event.
 */
export function createAnswerReplay({ lane, addsUp }: { readonly lane: number | undefined; readonly addsUp: boolean }): AnswerReplay {
  let answering = lane;
  let isAllNew = false;
  return {
    before(event, isNew) {
      const id = answering;
      const answer = answerOf(event);
      answering = answeringAfter(event, id);
      const wasAllNew = isAllNew;
      if (answering !== id) isAllNew = isNew;
      if (!answer || id === undefined || (wasAllNew && !addsUp)) return [];
      return unsentOf(answer, { lane: id, written: wasAllNew ? 0 : 1 });
    },
  };
}

/** The events that a queue must send after it has dropped deltas. */
export interface DroppedAnswers {
  /** The events to send right before this event of the lane. */
  before(event: AgentEvent): readonly EphemeralEvent[];
  dropped(event: EphemeralEvent): void;
}

/** An answer with dropped deltas is sent whole, as a snapshot, before its end. */
export function createDroppedAnswers(): DroppedAnswers {
  let lane: number | undefined;
  return {
    before(event) {
      const answer = answerOf(event);
      const unpublished = answer && lane !== undefined ? unsentOf(answer, { lane, written: 1 }) : [];
      if (lane !== undefined && "seq" in event && answeringAfter(event, lane) === undefined) lane = undefined;
      return unpublished;
    },
    dropped(event) {
      if (!event.type.startsWith("tool_execution") && event.type !== "progress") lane = event.lane;
    },
  };
}
