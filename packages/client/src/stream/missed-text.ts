import type { AgentEvent, EphemeralEvent } from "@loopwright/core/protocol";

type Snapshot = Extract<EphemeralEvent, { readonly type: "message_snapshot" }>;

/**
 * Gives each event, and before a snapshot the text that it adds to what was told of its lane, as a delta: a reader that adds up `text_delta` misses
 * nothing, and one that takes the snapshot in place of the lane has the same. A snapshot with other words than those told stands alone.
 */
export function createMissedText(): (event: AgentEvent) => readonly AgentEvent[] {
  let told = "";
  let n = 0;
  /** Of the text block that is being written. */
  let open: number | undefined;

  const begin = (): void => {
    told = "";
    n = 0;
    open = undefined;
  };

  function missedBefore(event: Snapshot): readonly AgentEvent[] {
    const { lane, content } = event;
    const text = content.map((part) => (part.type === "text" ? part.text : "")).join("");
    const delta = text.slice(told.length);
    const isMore = delta !== "" && text.startsWith(told);
    told = text;
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
    if (event.type === "text_delta") told += event.delta;
    if (event.type === "text_start") open = event.index;
    else if (event.type.endsWith("_start") || event.type === "text_end") open = undefined;
    if (!event.type.startsWith("tool_execution") && event.type !== "progress") n = event.n;
    return events;
  };
}
