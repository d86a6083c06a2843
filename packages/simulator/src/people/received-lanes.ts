import { type DurableEvent, type EphemeralEvent, textOf } from "@loopwright/core";

/** The lanes of one client's connection, checked by the client rule. */
export interface ReceivedLanes {
  /** A lane with content continues with a snapshot; an empty lane begins at 1. */
  connect(): void;
  durable(event: DurableEvent): void;
  /** `lastSeq`: of the last durable event. */
  ephemeral(event: EphemeralEvent, lastSeq: number): void;
}

interface Lane {
  /** The last number received on this connection. */
  n: number;
  /** Text by index; absent for tools. */
  text: Map<number, string> | undefined;
  readonly callKey: string | undefined;
}

/** Calls `onFlaw` with each violation of the client rule. */
export function createReceivedLanes(onFlaw: (flaw: string) => void): ReceivedLanes {
  const lanes = new Map<number, Lane>();
  const closedHere = new Set<number>();

  const close = (isMine: (lane: Lane) => boolean): Lane | undefined => {
    for (const [id, lane] of lanes) {
      if (!isMine(lane)) continue;
      lanes.delete(id);
      closedHere.add(id);
      return lane;
    }
    return undefined;
  };
  const isModels = ({ callKey }: Lane): boolean => callKey === undefined;

  return {
    connect() {
      closedHere.clear();
      for (const lane of lanes.values()) {
        lane.n = 0;
        if (lane.text) lane.text = new Map();
      }
    },
    durable(event) {
      if (event.type === "run_end") while (close(() => true));
      else if (event.type === "message_start" && event.role === "assistant")
        lanes.set(event.seq, { n: 0, text: new Map(), callKey: undefined });
      else if (event.type === "attempt_discarded") close(isModels);
      else if (event.type === "message_end" && event.message.role === "assistant") {
        const lane = close(isModels);
        const received = textReceived(lane);
        const committed = textOf(event.message);
        if (!committed.startsWith(received)) onFlaw(`received other words than those of the message ${event.seq}`);
        // P3: a client that received a part of an answer on this connection has the whole answer when it ends.
        else if (lane && lane.n > 0 && received !== committed)
          onFlaw(`had ${received.length} of ${committed.length} characters at the end of the message ${event.seq}`);
      } else if (event.type === "tool_execution_start" || event.type === "tool_execution_end") {
        close(({ callKey }) => callKey === event.callKey);
        if (event.type === "tool_execution_start") lanes.set(event.seq, { n: 0, text: undefined, callKey: event.callKey });
      }
    },
    ephemeral(event, lastSeq) {
      const lane = lanes.get(event.lane);
      if (!lane) {
        if (event.lane > lastSeq) onFlaw(`received ${event.type} of lane ${event.lane} before it was opened`);
        else if (closedHere.has(event.lane)) onFlaw(`received ${event.type} of lane ${event.lane} after it was closed`);
        return;
      }
      const isSnapshot = event.type === "message_snapshot" || event.type === "tool_execution_snapshot";
      if (isSnapshot ? event.n < lane.n : event.n !== lane.n + 1)
        onFlaw(`received ${event.type} number ${event.n} of lane ${event.lane} after number ${lane.n}`);
      lane.n = event.n;
      if (event.type === "message_snapshot")
        lane.text = new Map(event.content.flatMap((part, index) => (part.type === "text" ? [[index, part.text]] : [])));
      if (event.type === "text_delta" && lane.text) lane.text.set(event.index, (lane.text.get(event.index) ?? "") + event.delta);
    },
  };
}

function textReceived(lane: Lane | undefined): string {
  return [...(lane?.text ?? [])]
    .sort(([a], [b]) => a - b)
    .map(([, text]) => text)
    .join("");
}
