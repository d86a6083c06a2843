import { type AgentEvent, compareCursors, type EventCursor, encodeCursor, type Message } from "@loopwright/core/protocol";
import type { ClientContext } from "../client-context.ts";
import { unreachable } from "../client-error.ts";
import { connectAttempts, resumeAttempts, retryCapMs } from "../client-limits.ts";
import type { WireRequest } from "../send-request.ts";
import type { Frame } from "../stream/connect.ts";
import type { ExecuteComplete, RunEnd } from "../stream/execution-stream.ts";
import { isDurable } from "../stream/follow-session.ts";
import { type ConnectionState, watch } from "../stream/watch.ts";

/** The input to execute, under its idempotency key. */
export interface RunRequest {
  readonly key: string;
  readonly json: unknown;
  /** The `traceparent` of the caller's work. */
  readonly trace?: string | undefined;
}

export interface RunReaderOptions {
  /** Called with each durable event once and in order, and with every ephemeral one. */
  readonly onEvent: (event: AgentEvent) => void;
  /** The server has the input, and this run answers it. */
  readonly onAccepted: (runId: string | undefined) => void;
  readonly onState: ((state: ConnectionState) => void) | undefined;
}

/**
 * Reads a run until it ends or waits, over any number of connections: each sends the same request under the same key, with the last cursor. The
 * returned function may be called again for the continuation. It rejects with the refusal of the server or SERVER_UNREACHABLE.
 */
export function createRunReader(client: ClientContext, options: RunReaderOptions): (request: RunRequest) => Promise<RunEnd> {
  const { onEvent, onAccepted, onState } = options;
  let isAccepted = false;
  let last: EventCursor | undefined;
  let messages: readonly Message[] = [];

  /** The frame when it is the last one of the stream. */
  function take(frame: Frame): ExecuteComplete | undefined {
    const event = frame as AgentEvent;
    if (event.type === "execute_complete") return event as ExecuteComplete;
    if (event.type === "session_start") onAccepted((frame as { readonly runId?: string }).runId);
    else if (event.type === "session_end") messages = event.messages;
    else if (isDurable(event)) {
      if (last && compareCursors(event, last) <= 0) return undefined;
      last = event;
      onEvent(event);
    } else if ("lane" in event) onEvent(event);
    return undefined;
  }

  const mayWait = (failures: number, waitMs: number): boolean =>
    isAccepted ? failures < resumeAttempts : failures < connectAttempts && waitMs <= retryCapMs;
  const notifyState = (state: ConnectionState): void => {
    if (state.state === "open") isAccepted = true;
    onState?.(state);
  };

  return async ({ key, json, trace }) => {
    const request = (): WireRequest => {
      const headers = { "Idempotency-Key": key, "Last-Event-ID": last && encodeCursor(last), traceparent: trace };
      return { path: "/api/agent/execute", json, headers };
    };
    for await (const frames of watch(client, { request, mayWait, onState: notifyState })) {
      for (const frame of frames) {
        const complete = take(frame);
        if (complete) return { messages, complete };
      }
    }
    throw unreachable(client.url);
  };
}
