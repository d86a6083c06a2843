import { compareCursors, decodeCursor, type Notification, type SessionEvent, type SessionSnapshot } from "@loopwright/core/protocol";
import type { ClientContext } from "../client-context.ts";
import { requestJson } from "../send-request.ts";
import type { Frame } from "./connect.ts";
import { createPlace, type Place } from "./follow-session.ts";
import { type ConnectionState, watch } from "./watch.ts";

export interface NotificationsOptions {
  /** Sessions whose events come in full, each after its cursor; `""`: from the start. At most 20. */
  readonly sessions?: { readonly [sessionId: string]: string };
  /** Stops watching. */
  readonly signal?: AbortSignal;
  readonly onState?: (state: ConnectionState) => void;
}

/** Events for one caller: hints for all sessions, all events of the named ones, and notifications of the product. */
export type NotificationEvent =
  | (SessionEvent & { readonly sessionId: string })
  /** Takes the place of everything of this session before it. */
  | { readonly type: "session_snapshot"; readonly sessionId: string; readonly snapshot: SessionSnapshot }
  /** A session that was not named was created, or has got further. */
  | { readonly type: "session_hint"; readonly sessionId: string; readonly seq: number }
  /** The server may have missed hints of other nodes: read anew what is shown. */
  | { readonly type: "hints_missed" }
  | { readonly type: "notification"; readonly notification: Notification };

/**
 * The caller's events as they come, one batch per read, over any number of connections: each durable event of a named session once and in
 * order; hints and notifications may be missed while there is no connection. Ends when the signal is aborted.
 * @throws AgentError SESSION_NOT_FOUND, CURSOR_INVALID, INPUT_INVALID, UNAUTHENTICATED, FORBIDDEN
 */
export async function* followNotifications(
  client: ClientContext,
  { sessions = {}, signal, onState }: NotificationsOptions,
): AsyncGenerator<readonly NotificationEvent[], void> {
  const places = new Map(Object.entries(sessions).map(([id, after]) => [id, createPlace(after)]));
  let lost: NotificationEvent[] = [];
  const request = (): { path: string } => {
    const query = new URLSearchParams(
      [...places].map(([id, { cursor }]): [string, string] => ["session", cursor ? `${id}@${cursor}` : id]),
    );
    return { path: `/api/notifications${places.size > 0 ? `?${query}` : ""}` };
  };
  const onRefused = async (error: { readonly code: string }): Promise<boolean> => {
    if (!error.code.startsWith("HISTORY_")) return false;
    lost = await lostPlaces(client, places, error.code === "HISTORY_LOST");
    return lost.length > 0;
  };
  for await (const frames of watch(client, { request, onRefused, signal, onState })) {
    const known = frames.filter((frame): frame is NotificationEvent => places.get(sessionOf(frame))?.take(frame) ?? true);
    const news = [...lost, ...known];
    lost = [];
    if (news.length > 0) yield news;
  }
}

const sessionOf = (frame: Frame): string => ("sessionId" in frame ? String(frame.sessionId) : "");

/**
 * Snapshots of the named sessions whose cursor no longer fits: the refusal does not name them, so each session is compared. `isAhead`: a cursor
 * lies after the end of its log; otherwise any session with newer events may be the one.
 */
async function lostPlaces(client: ClientContext, places: ReadonlyMap<string, Place>, isAhead: boolean): Promise<NotificationEvent[]> {
  const lost: NotificationEvent[] = [];
  for (const [sessionId, place] of places) {
    const snapshot = await requestJson<SessionSnapshot>(client, { path: `/api/sessions/${encodeURIComponent(sessionId)}` });
    const [ours, theirs] = [decodeCursor(place.cursor), decodeCursor(snapshot.cursor)];
    const ahead = ours && theirs ? compareCursors(ours, theirs) : 0;
    if (isAhead ? ahead <= 0 : ahead === 0) continue;
    const frame = { type: "session_snapshot", sessionId, snapshot } as const;
    place.take(frame);
    lost.push(frame);
  }
  return lost;
}
