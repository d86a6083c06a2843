import type { Notification } from "@loopwright/core/ports";
import type { SessionEvent } from "@loopwright/core/protocol";
import type { OrchestratorMessage, StreamVersion } from "./orchestrator-message.ts";
import { createSessionReader, type SessionReader } from "./read-session.ts";

/** A frame as a server sends it: `event:` and the `data:` beside it. */
export interface OrchestratorFrame {
  readonly event: string;
  readonly data: { readonly [field: string]: unknown };
}

/** What a server's `dialects` takes. */
export interface OrchestratorDialect {
  readonly name: string;
  open(): {
    events(sessionId: string, events: readonly SessionEvent[]): readonly OrchestratorFrame[];
    notification(notification: Notification): readonly OrchestratorFrame[];
  };
}

/** Sessions that one stream follows at once; the one that was read least recently is forgotten first. */
const sessionsMax = 1_000;

/** `GET /api/notifications?dialect=orchestrator-v2`: the messages of all sessions of the caller, each with its `sessionId`. */
export function orchestratorDialect(version: StreamVersion): OrchestratorDialect {
  return {
    name: `orchestrator-v${version}`,
    open() {
      const readers = new Map<string, SessionReader>();
      return {
        events(sessionId, events) {
          const reader = readers.get(sessionId) ?? createSessionReader(version);
          readers.delete(sessionId);
          readers.set(sessionId, reader);
          const [oldest] = readers.keys();
          if (readers.size > sessionsMax && oldest !== undefined) readers.delete(oldest);
          return reader.read(events).map((message) => frameOf(sessionId, message));
        },
        notification: ({ type, data }) => [{ event: "notification", data: { type, ...(data === undefined ? {} : { data }) } }],
      };
    },
  };
}

const frameOf = (sessionId: string, { type, ...message }: OrchestratorMessage): OrchestratorFrame => ({
  event: type,
  data: { sessionId, ...message },
});
