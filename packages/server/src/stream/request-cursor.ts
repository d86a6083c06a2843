import { AgentError } from "@loopwright/core";
import type { SessionStore } from "@loopwright/core/ports";
import { decodeCursor, type EventCursor } from "@loopwright/core/protocol";
import type { HostedSession } from "../sessions/session-host.ts";

/** The cursor of a text. @throws AgentError CURSOR_INVALID */
export function cursorOf(text: string): EventCursor {
  const cursor = decodeCursor(text);
  if (cursor) return cursor;
  throw new AgentError("CURSOR_INVALID", { message: "The cursor cannot be read." });
}

/** Where the reader stands that comes back, by its `Last-Event-ID`. @throws AgentError CURSOR_INVALID */
export function lastEventCursor(request: Request): EventCursor | undefined {
  const text = request.headers.get("Last-Event-ID");
  return text === null || text === "" ? undefined : cursorOf(text);
}

/** @throws AgentError HISTORY_LOST when the cursor is ahead of the log. */
export async function checkCursor(cursor: EventCursor, { ref, session }: HostedSession, store: SessionStore): Promise<void> {
  await session.ready();
  if (cursor.seq <= session.lastSeq) return;
  // This process may not have seen yet what another has appended.
  const { lastSeq } = await store.log.head(ref);
  if (cursor.seq <= lastSeq) return;
  throw new AgentError("HISTORY_LOST", { message: `The cursor names event ${cursor.seq} and the log ends at ${lastSeq}.` });
}
