/*
 * Owns: what one client was told, by the client's rule: durable events once and in order, lanes by their numbers, a snapshot in place of a lane.
 * Does not own: what it should have been told (the checker reads the log).
 */
import { type DurableEvent, type EphemeralEvent, type EventCursor, type SessionEvent, textOf } from "@loopwright/core";

export interface Recording {
  /** Every durable event so far, over all connections. */
  readonly durable: readonly DurableEvent[];
  /** What no client may be told, in words. */
  readonly flaws: readonly string[];
  readonly cursor: EventCursor | undefined;
  /** A new connection begins. */
  connect(): void;
  take(events: readonly SessionEvent[]): void;
  /** Client calls that wait for an answer, as far as it was told. */
  readonly calls: ReadonlyMap<string, { readonly toolCallId: string; readonly toolName: string }>;
  /** Calls that wait for a decision, with the digest of their arguments. */
  readonly approvals: ReadonlyMap<string, string>;
  /** How many events of a type it was told, ephemeral ones too. */
  countOf(type: SessionEvent["type"]): number;
  /** The run that it was told of last, until its end. */
  readonly openRun: string | undefined;
}

interface Lane {
  /** The last number told on this connection. */
  n: number;
  /** Text by index, as far as it is whole. */
  text: Map<number, string> | undefined;
  readonly callKey: string | undefined;
}

export function createRecording(): Recording {
  const durable: DurableEvent[] = [];
  const flaws: string[] = [];
  const lanes = new Map<number, Lane>();
  const closedHere = new Set<number>();
  const calls = new Map<string, { readonly toolCallId: string; readonly toolName: string }>();
  const approvals = new Map<string, string>();
  const counts = new Map<SessionEvent["type"], number>();
  let openRun: string | undefined;

  const close = (isMine: (lane: Lane) => boolean): Lane | undefined => {
    for (const [id, lane] of lanes) {
      if (!isMine(lane)) continue;
      lanes.delete(id);
      closedHere.add(id);
      return lane;
    }
    return undefined;
  };
  const takeDurable = (event: DurableEvent): void => {
    const last = durable.at(-1);
    if (last && (event.seq < last.seq || (event.seq === last.seq && event.k <= last.k))) {
      flaws.push(`was told ${event.seq}.${event.k} ${event.type} after ${last.seq}.${last.k}`);
      return;
    }
    durable.push(event);
    follow(event);
  };
  const follow = (event: DurableEvent): void => {
    switch (event.type) {
      case "run_start":
        openRun = event.runId;
        return;
      case "run_end":
        openRun = undefined;
        calls.clear();
        approvals.clear();
        while (close(() => true));
        return;
      case "message_start":
        if (event.role === "assistant") lanes.set(event.seq, { n: 0, text: new Map(), callKey: undefined });
        return;
      case "attempt_discarded":
        close(({ callKey }) => callKey === undefined);
        return;
      case "message_end":
        if (event.message.role === "tool_result") settle(event.message.callKey);
        if (event.message.role === "assistant")
          compareText(
            close(({ callKey }) => callKey === undefined),
            textOf(event.message),
            event.seq,
          );
        return;
      case "tool_execution_start":
        close(({ callKey }) => callKey === event.callKey);
        lanes.set(event.seq, { n: 0, text: undefined, callKey: event.callKey });
        return;
      case "tool_execution_end":
        close(({ callKey }) => callKey === event.callKey);
        return;
      case "awaiting_tool_execution":
        for (const { callKey, toolCallId, toolName } of event.toolCalls) calls.set(callKey, { toolCallId, toolName });
        return;
      case "approval_requested":
        approvals.set(event.callKey, event.argsDigest);
        return;
      case "approval_decided":
        approvals.delete(event.callKey);
        return;
      default:
        return;
    }
  };
  const settle = (callKey: string | undefined): void => {
    if (callKey === undefined) return;
    calls.delete(callKey);
    approvals.delete(callKey);
  };
  const compareText = (lane: Lane | undefined, said: string, seq: number): void => {
    if (!lane?.text) return;
    const heard = [...lane.text]
      .sort(([a], [b]) => a - b)
      .map(([, text]) => text)
      .join("");
    if (!said.startsWith(heard)) flaws.push(`heard other words than those of the message ${seq}`);
  };
  const takeEphemeral = (event: EphemeralEvent): void => {
    const lane = lanes.get(event.lane);
    if (!lane) {
      const lastSeq = durable.at(-1)?.seq ?? 0;
      if (event.lane > lastSeq) flaws.push(`heard ${event.type} of lane ${event.lane} before it was opened`);
      else if (closedHere.has(event.lane)) flaws.push(`heard ${event.type} of lane ${event.lane} after it was closed`);
      return;
    }
    const isSnapshot = event.type === "message_snapshot" || event.type === "tool_execution_snapshot";
    if (isSnapshot ? event.n < lane.n : event.n !== lane.n + 1)
      flaws.push(`heard ${event.type} number ${event.n} of lane ${event.lane} after number ${lane.n}`);
    lane.n = event.n;
    if (event.type === "message_snapshot")
      lane.text = new Map(event.content.flatMap((part, index) => (part.type === "text" ? [[index, part.text]] : [])));
    if (event.type === "text_delta" && lane.text) lane.text.set(event.index, (lane.text.get(event.index) ?? "") + event.delta);
  };

  return {
    durable,
    flaws,
    calls,
    approvals,
    countOf: (type) => counts.get(type) ?? 0,
    get openRun() {
      return openRun;
    },
    get cursor() {
      const last = durable.at(-1);
      return last && { seq: last.seq, k: last.k };
    },
    connect() {
      closedHere.clear();
      // What a lane has said so far comes again, as a snapshot; one that has said nothing begins at 1.
      for (const lane of lanes.values()) {
        lane.n = 0;
        if (lane.text) lane.text = new Map();
      }
    },
    take(events) {
      for (const event of events) {
        counts.set(event.type, (counts.get(event.type) ?? 0) + 1);
        if ("lane" in event) takeEphemeral(event);
        else takeDurable(event);
      }
    },
  };
}
