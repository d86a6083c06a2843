/*
 * Owns: the list of conversations as the page knows it, kept in step by hints of the server.
 * Does not own: how it looks.
 * Invariants
 *  L1 what a person did is shown at once, and taken back when the server refuses it;
 *  L2 many hints in a short time cost one request, and the newest answer wins;
 *  L3 a list that is no longer shown sends no request that a hint has asked for.
 */

import type { FoundSessions, LoopwrightClient } from "@loopwright/client";
import type { AgentError, SessionHit, SessionSummary } from "@loopwright/core/protocol";
import { errorOf } from "./notices.ts";
import { type Changeable, createWatched, type Watched } from "./watched.ts";

export interface SessionListState {
  readonly phase: "loading" | "ready" | "failed";
  /** Newest change first. */
  readonly sessions: readonly SessionSummary[];
  /** Cursor of the older ones; absent when there are none. */
  readonly next?: string | undefined;
  readonly query: string;
  /** What the search found; absent while nothing is searched or found yet. */
  readonly hits?: readonly SessionHit[] | undefined;
  /** There may be more than these hits. */
  readonly hasMoreHits?: boolean | undefined;
  readonly error?: AgentError | undefined;
}

/** The conversations of this person. */
export interface SessionList extends Watched<SessionListState> {
  /** Reads the newest page soon: something has changed. */
  refresh(): void;
  /** The list is no longer shown, for example because the team has changed: the refresh that is due is not made. Another `refresh` shows it again. */
  leave(): void;
  showMore(): Promise<void>;
  search(query: string): void;
  rename(id: string, title: string): Promise<void>;
  remove(id: string): Promise<void>;
}

/** The part of the client that is needed here. */
export type SessionListSource = Pick<LoopwrightClient["sessions"], "list" | "search" | "change" | "remove">;

/** Runs something after a while. */
export type Later = (act: () => void, delayMs: number) => void;

/** What the parts of the list share. */
interface Parts {
  readonly source: SessionListSource;
  readonly later: Later;
  readonly shown: Changeable<SessionListState>;
  readonly change: (part: Partial<SessionListState>) => void;
}

const pageSize = 50;
const refreshPauseMs = 400;
const searchPauseMs = 150;

/** The list of a server's sessions; empty until the first `refresh` has been answered. */
export function createSessionList(
  source: SessionListSource,
  later: Later = (act, delayMs) => {
    setTimeout(act, delayMs);
  },
): SessionList {
  const shown = createWatched<SessionListState>({ phase: "loading", sessions: [], query: "" });
  const change = (part: Partial<SessionListState>): void => shown.put({ ...shown.read(), ...part });
  const parts: Parts = { source, later, shown, change };
  return {
    read: shown.read,
    subscribe: shown.subscribe,
    ...refresher(parts),
    search: searcher(parts),
    async showMore() {
      const { next: before } = shown.read();
      if (before === undefined) return;
      const page = await source.list({ limit: pageSize, before });
      const { sessions } = shown.read();
      const known = new Set(sessions.map(({ id }) => id));
      change({ sessions: [...sessions, ...page.sessions.filter(({ id }) => !known.has(id))], next: page.next });
    },
    rename: (id, title) => attempt(parts, { id, by: (session) => ({ ...session, title }), act: () => source.change(id, { title }) }),
    remove: (id) => attempt(parts, { id, by: () => undefined, act: () => source.remove(id) }),
  };
}

/** Reads the newest page: the first time at once, then a while after it was asked to, since hints of a running answer come in crowds. */
function refresher({ source, later, shown, change }: Parts): Pick<SessionList, "refresh" | "leave"> {
  let isDue = false;
  /** Counts how often the list was left: what was due before is no longer due. */
  let left = 0;
  let isReading = false;
  const read = async (): Promise<void> => {
    isDue = false;
    isReading = true;
    try {
      const page = await source.list({ limit: pageSize });
      const older = page.next === undefined ? [] : olderThan(page.sessions, shown.read().sessions);
      const next = older.length === 0 ? page.next : shown.read().next;
      change({ phase: "ready", sessions: [...page.sessions, ...older], next, error: undefined });
    } catch (error) {
      change({ phase: shown.read().sessions.length > 0 ? "ready" : "failed", error: errorOf(error) });
    }
    isReading = false;
    if (isDue) readLater();
  };
  const readLater = (): void => {
    const before = left;
    later(() => {
      if (before === left) void read();
    }, refreshPauseMs);
  };
  return {
    refresh() {
      if (isDue) return;
      isDue = true;
      if (isReading) return;
      if (shown.read().phase === "loading") void read();
      else readLater();
    },
    leave() {
      left += 1;
      isDue = false;
    },
  };
}

/** Asks for the last words only, when they have not changed for a moment. */
function searcher({ source, later, change }: Parts): (query: string) => void {
  let searches = 0;
  return (query) => {
    const mine = ++searches;
    const show = ({ hits, more }: FoundSessions, error?: AgentError): void => {
      if (mine === searches) change({ hits, hasMoreHits: more === true, error });
    };
    if (query.trim() === "") {
      change({ query, hits: undefined });
      return;
    }
    change({ query });
    later(() => {
      if (mine !== searches) return;
      source.search(query.trim(), { limit: pageSize }).then(show, (error: unknown) => show({ hits: [] }, errorOf(error)));
    }, searchPauseMs);
  };
}

interface Attempt {
  readonly id: string;
  /** What becomes of the session; `undefined`: nothing is left of it. */
  readonly by: (session: SessionSummary) => SessionSummary | undefined;
  readonly act: () => Promise<unknown>;
}

async function attempt({ shown, change }: Parts, { id, by, act }: Attempt): Promise<void> {
  const { sessions, hits } = shown.read();
  const after = (session: SessionSummary): SessionSummary | undefined => (session.id === id ? by(session) : session);
  change({
    sessions: sessions.flatMap((session) => after(session) ?? []),
    hits: hits?.flatMap((hit) => {
      const session = after(hit.session);
      return session ? [{ ...hit, session }] : [];
    }),
  });
  try {
    await act();
  } catch (error) {
    change({ sessions, hits });
    throw error;
  }
}

/** What was loaded before and stands behind the page. */
function olderThan(page: readonly SessionSummary[], loaded: readonly SessionSummary[]): readonly SessionSummary[] {
  const last = page.at(-1);
  if (!last) return [];
  const ids = new Set(page.map(({ id }) => id));
  return loaded.filter(({ id, updatedAt }) => !ids.has(id) && updatedAt <= last.updatedAt);
}
