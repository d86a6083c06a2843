/*
 * Owns: the view of one open session, kept in step with the server for as long as the page shows it.
 * Does not own: what the view means (the fold of the client), how a cut stream is resumed (its `follow`).
 * Invariants
 *  O1 the view changes at most once per frame, and only by the fold: no gap, no double, whatever is cut and sent again;
 *  O2 a new connection continues after the last event that was shown;
 *  O3 no listener is called after `close`.
 */
import { applyEvents, type ConnectionState, type FollowedEvent, type FollowOptions, type SessionView, viewOf } from "@loopwright/client";
import { type AgentError, isAgentError, type SessionEvent } from "@loopwright/core/protocol";
import { errorOf } from "../app/notices.ts";
import { createWatched, type Watched } from "../app/watched.ts";
import { nextFrame, type Schedule } from "./next-frame.ts";

/** What the page knows of a session. */
export interface SessionState {
  /** `missing`: there is no such session, or not any more. */
  readonly phase: "loading" | "open" | "missing" | "failed";
  /** Kept while the connection is lost. */
  readonly view?: SessionView;
  /** `lost`: it broke and is made again by itself. */
  readonly connection: "live" | "lost";
  /** Why it failed, or is missing. */
  readonly error?: AgentError;
}

/** A session that the page shows. */
export interface OpenSession extends Watched<SessionState> {
  readonly sessionId: string;
  /** Lets the connection go until `retry`, if nothing is under way. */
  rest(): void;
  /** Connects anew at once, unless all is well. */
  retry(): void;
  close(): void;
}

/** The part of the client that is needed here. */
export interface SessionSource {
  follow(sessionId: string, options: FollowOptions): AsyncIterable<readonly FollowedEvent[]>;
}

/** Follows a session until `close`. `schedule` decides when new events are shown. */
export function openSession(source: SessionSource, sessionId: string, schedule: Schedule = nextFrame): OpenSession {
  const { read, subscribe, put } = createWatched<SessionState>({ phase: "loading", connection: "live" });
  let queue: FollowedEvent[] = [];
  let following: AbortController | undefined;
  let isClosed = false;

  const change = (next: SessionState): void => {
    if (!isClosed) put(next);
  };
  const flush = (): void => {
    const view = viewAfter(read().view, queue);
    queue = [];
    if (view && view !== read().view) change({ ...read(), phase: "open", view });
  };
  const follow = async (): Promise<void> => {
    const mine = new AbortController();
    following = mine;
    const onState = ({ state: now }: ConnectionState): void => {
      if (following !== mine || now === "connecting" || now === "closed") return;
      const connection = now === "open" ? "live" : "lost";
      if (connection !== read().connection) change({ ...read(), connection });
    };
    try {
      const { view } = read();
      const after = view ? { after: view.cursor } : {};
      for await (const batch of source.follow(sessionId, { ...after, signal: mine.signal, onState })) {
        if (following !== mine) return;
        if (queue.length === 0) schedule(flush);
        queue.push(...batch);
      }
    } catch (error) {
      if (following !== mine) return;
      following = undefined;
      const known = errorOf(error);
      const phase = isAgentError(known, "SESSION_NOT_FOUND") ? "missing" : "failed";
      change({ ...read(), phase, connection: "live", error: known });
    }
  };
  const leave = (): void => {
    following?.abort();
    following = undefined;
    flush();
  };

  void follow();
  return {
    sessionId,
    read,
    subscribe,
    rest() {
      if (following && read().connection === "live" && read().view?.status === "idle") leave();
    },
    retry() {
      if (isClosed || (following && read().connection === "live")) return;
      leave();
      const { error: _, ...rest } = read();
      if (read().phase !== "open") change({ ...rest, phase: read().view ? "open" : "loading" });
      void follow();
    },
    close() {
      isClosed = true;
      leave();
    },
  };
}

/** The view after everything that came; a snapshot takes the place of all before it. */
function viewAfter(view: SessionView | undefined, queue: readonly FollowedEvent[]): SessionView | undefined {
  let now = view;
  let events: SessionEvent[] = [];
  for (const event of queue) {
    if (event.type === "session_snapshot") {
      events = [];
      now = viewOf(event.snapshot);
    } else if ("seq" in event || "lane" in event) events.push(event);
  }
  return now && events.length > 0 ? applyEvents(now, events) : now;
}
