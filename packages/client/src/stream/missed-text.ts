import type { AgentEvent, EphemeralEvent } from "@loopwright/core/protocol";

type Snapshot = Extract<EphemeralEvent, { readonly type: "message_snapshot" }>;

/**
 * Passes each event on and puts a `text_delta` before a snapshot, with the text that the snapshot adds to the deltas passed on so far. So a reader
 * that concatenates `text_delta` and one that replaces the lane by the snapshot have the same text. A snapshot that does not continue the text
 * passed on so far gets no delta.
 */
export function createMissedText(): (event: AgentEvent) => readonly AgentEvent[] {
  let passedOn = "";
  let n = 0;
  /** Of the text block that is being written. */
  let open: number | undefined;

  const begin = (): void => {
    passedOn = "";
    n = 0;
    open = undefined;
  };

  function missedBefore(event: Snapshot): readonly AgentEvent[] {
    const { lane, content } = event;
    const text = content.map((part) => (part.type === "text" ? part.text : "")).join("");
    const delta = text.slice(passedOn.length);
    const isMore = delta !== "" && text.startsWith(passedOn);
    passedOn = text;
    if (!isMore) return [];
    const index = open ?? content.findLastIndex((part) => part.type === "text");
    const start = { type: "text_start", index, lane, n: n + 1 } as const;
    const missed = { type: "text_delta", index, delta, lane, n: n + (open === undefined ? 2 : 1) } as const;
    const events = open === undefined ? [start, missed] : [missed];
    open = index;
    return events;
  }

  return (event) => {
    if (event.type === "message_start" || event.type === "attempt_discarded") begin();
    if (!("lane" in event)) return [event];
    const events = event.type === "message_snapshot" ? [...missedBefore(event), event] : [event];
    if (event.type === "text_delta") passedOn += event.delta;
    if (event.type === "text_start") open = event.index;
    else if (event.type.endsWith("_start") || event.type === "text_end") open = undefined;
    if (!event.type.startsWith("tool_execution") && event.type !== "progress") n = event.n;
    return events;
  };
}
