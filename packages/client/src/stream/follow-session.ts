import { compareCursors, decodeCursor, encodeCursor, type SessionEvent, type SessionSnapshot } from "@loopwright/core/protocol";
import type { ClientContext } from "../client-context.ts";
import type { Frame } from "./connect.ts";
import { type ConnectionState, watch } from "./watch.ts";

export interface FollowOptions {
  /** The events after this cursor; `""`: from the start of the session. Default: from now, with a `session_snapshot` first. */
  readonly after?: string;
  /** Stops watching, not the session. */
  readonly signal?: AbortSignal;
  /** Called at each change of the connection's state. */
  readonly onState?: (state: ConnectionState) => void;
}

/** An event of a followed session. A newer server may send types that are not listed; ignore them. */
export type FollowedEvent =
  | SessionEvent
  /** Takes the place of everything before it. */
  | { readonly type: "session_snapshot"; readonly snapshot: SessionSnapshot }
  /** Nothing moves by itself any more. */
  | { readonly type: "rest" };

/**
 * The events of a session as they come, one batch per read, over any number of connections: each durable event once and in order. When the
 * server has lost history that the reader saw, or no longer keeps it, a `session_snapshot` comes in its place. Ends when the signal is aborted.
 * @throws AgentError SESSION_NOT_FOUND, SESSION_CLOSED, CURSOR_INVALID, UNAUTHENTICATED, FORBIDDEN
 */
export async function* followSession(
  client: ClientContext,
  sessionId: string,
  { after, signal, onState }: FollowOptions,
): AsyncGenerator<readonly FollowedEvent[], void> {
  const place = createPlace(after);
  const path = `/api/sessions/${encodeURIComponent(sessionId)}/events`;
  const request = (): { path: string } => ({
    path: `${path}?${place.cursor === undefined ? "from=now" : `after=${encodeURIComponent(place.cursor)}`}`,
  });
  const onRefused = (error: { readonly code: string }): boolean => {
    const isLost = error.code.startsWith("HISTORY_") && place.cursor !== undefined;
    if (isLost) place.forget();
    return isLost;
  };
  for await (const frames of watch(client, { request, onRefused, signal, onState })) {
    const news = frames.filter((frame): frame is FollowedEvent => place.take(frame));
    if (news.length > 0) yield news;
  }
}

/** Where a reader stands in the history of one session. */
export interface Place {
  /** Of the last durable event, or as it was given; `undefined`: nowhere. */
  readonly cursor: string | undefined;
  /** False for a durable event that was taken before. */
  take(frame: Frame): boolean;
  forget(): void;
}

export function createPlace(after: string | undefined): Place {
  let cursor = after;
  let last = decodeCursor(after);
  return {
    get cursor() {
      return cursor;
    },
    take(frame) {
      if (isSnapshot(frame)) {
        cursor = frame.snapshot.cursor;
        last = decodeCursor(cursor);
      } else if (isDurable(frame)) {
        if (last && compareCursors(frame, last) <= 0) return false;
        last = frame;
        cursor = encodeCursor(frame);
      }
      return true;
    },
    forget() {
      cursor = undefined;
      last = undefined;
    },
  };
}

const isSnapshot = (frame: Frame): frame is Extract<FollowedEvent, { readonly type: "session_snapshot" }> =>
  frame.type === "session_snapshot";

/** An event that has a place in the log. */
export const isDurable = (frame: Frame): frame is Extract<SessionEvent, { readonly seq: number }> => "seq" in frame && "k" in frame;
