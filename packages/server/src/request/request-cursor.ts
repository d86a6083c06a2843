import { AgentError } from "@loopwright/core";
import { decodeCursor, type EventCursor } from "@loopwright/core/protocol";
import type { HostedSession } from "@loopwright/host";
import type { ServerContext } from "../server-context.ts";

/** The cursor of a text. @throws AgentError CURSOR_INVALID */
export function cursorOf(text: string): EventCursor {
  const cursor = decodeCursor(text);
  if (cursor) return cursor;
  throw new AgentError("CURSOR_INVALID", { message: "The cursor cannot be read." });
}

/** The cursor of a reader that reconnects, from its `Last-Event-ID`. @throws AgentError CURSOR_INVALID */
export function lastEventCursor(request: Request): EventCursor | undefined {
  const text = request.headers.get("Last-Event-ID");
  return text === null || text === "" ? undefined : cursorOf(text);
}

/** The parts of the server that the check of a cursor uses. */
type CursorContext = Pick<ServerContext, "options" | "limits" | "clock" | "logger" | "metrics" | "watched" | "feeds">;

/**
 * @throws AgentError HISTORY_LOST when the cursor is ahead of the log, HISTORY_EXPIRED when the events after it are too old to be replayed
 */
export async function checkCursor(cursor: EventCursor, hosted: HostedSession, server: CursorContext): Promise<void> {
  const { ref, session } = hosted;
  await session.ready();
  if (cursor.seq > session.lastSeq) {
    // Another process may have appended facts that this process has not seen yet.
    const { lastSeq } = await server.options.store.log.head(ref);
    if (cursor.seq > lastSeq) throw historyLost(cursor, { ref, lastSeq, knownSeq: session.lastSeq }, server);
  }
  const nextAt = await server.feeds.of(hosted).nextAt(cursor);
  if (nextAt !== undefined && nextAt < server.clock.now() - server.limits.replayMaxAgeMs) throw historyExpired(cursor, hosted, server);
}

/**
 * The reader gets the error in any case. Operators are alarmed only if this process itself has seen more than the store has: a cursor alone proves
 * nothing, because any client may make one up.
 */
function historyLost(
  { seq }: EventCursor,
  { ref, lastSeq, knownSeq }: Pick<HostedSession, "ref"> & { readonly lastSeq: number; readonly knownSeq: number },
  { logger, metrics, watched }: CursorContext,
): AgentError {
  const details = { cursorSeq: seq, lastSeq };
  if (knownSeq > lastSeq) {
    const message = "The store has lost the end of a session: this process has seen more of it.";
    watched.damaged(new AgentError("HISTORY_LOST", { message, details: { ...details, knownSeq } }), ref);
  } else {
    metrics.cursorAhead();
    logger.log("info", "A cursor is ahead of the log of its session.", { ...ref, ...details });
  }
  return new AgentError("HISTORY_LOST", { message: `The cursor names fact ${seq}, and the log ends at fact ${lastSeq}.` });
}

function historyExpired({ seq }: EventCursor, { ref }: HostedSession, { options, limits }: CursorContext): AgentError {
  const snapshot = `${options.basePath ?? ""}/api/sessions/${ref.session}`;
  const days = Math.round(limits.replayMaxAgeMs / 86_400_000);
  return new AgentError("HISTORY_EXPIRED", {
    message: `The events after ${seq} are older than ${days} days and are no longer delivered.`,
    fix: `Read \`GET ${snapshot}\` and follow its \`cursor\`.`,
    details: { snapshot },
  });
}
