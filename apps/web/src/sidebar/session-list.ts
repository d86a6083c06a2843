/*
 * Owns: the list of conversations as the page knows it, kept in step by hints of the server.
 * Does not own: how it looks.
 * Invariants
 *  L1 what a person did is shown at once, and taken back when the server refuses it;
 *  L2 many hints in a short time cost one request, and the newest answer wins.
 */

import type { SessionHit, SessionSummary } from "@loopwright/core/ports";
import type { AgentError } from "@loopwright/core/protocol";
import { errorOf } from "../app/notices.ts";

export interface SessionListState {
  readonly phase: "loading" | "ready" | "failed";
  /** Newest change first. */
  readonly sessions: readonly SessionSummary[];
  /** There are older ones. */
  readonly hasMore: boolean;
  readonly query: string;
  /** What the search found; absent while nothing is searched or found yet. */
  readonly hits?: readonly SessionHit[];
  readonly error?: AgentError;
}

/** The conversations of this person. */
export interface SessionList {
  read(): SessionListState;
  subscribe(listener: () => void): () => void;
  /** Reads the newest page soon: something has changed. */
  refresh(): void;
  showMore(): Promise<void>;
  search(query: string): void;
  rename(id: string, title: string): Promise<void>;
  remove(id: string): Promise<void>;
}

/** The part of the client that is needed here. */
export interface SessionListSource {
  list(options: {
    readonly limit: number;
    readonly before?: string;
  }): Promise<{ readonly sessions: readonly SessionSummary[]; readonly next?: string }>;
  search(query: string, options?: { readonly limit?: number }): Promise<readonly SessionHit[]>;
  change(id: string, change: { readonly title: string }): Promise<unknown>;
  remove(id: string): Promise<unknown>;
}

export interface SessionListOptions {
  /** Waits a moment. Default: timers of the browser. */
  readonly later?: (act: () => void, delayMs: number) => void;
}

const pageSize = 50;
const refreshPauseMs = 400;
const searchPauseMs = 150;

/** The list of a server's sessions; empty until the first `refresh` has been answered. */
export function createSessionList(source: SessionListSource, options: SessionListOptions = {}): SessionList {
  const { later = (act, delayMs) => void setTimeout(act, delayMs) } = options;
  const listeners = new Set<() => void>();
  let state: SessionListState = { phase: "loading", sessions: [], hasMore: false, query: "" };
  let next: string | undefined;
  let refreshing: "no" | "soon" | "now" | "again" = "no";
  let searches = 0;

  const change = (part: Partial<SessionListState>): void => {
    state = { ...state, ...part };
    for (const listener of listeners) listener();
  };
  const replace = (id: string, by: (session: SessionSummary) => SessionSummary | undefined): void => {
    change({ sessions: state.sessions.flatMap((session) => (session.id === id ? (by(session) ?? []) : [session])) });
    const { hits } = state;
    if (!hits) return;
    change({
      hits: hits.flatMap((hit) => {
        const session = hit.session.id === id ? by(hit.session) : hit.session;
        return session ? [{ ...hit, session }] : [];
      }),
    });
  };

  const read = async (): Promise<void> => {
    refreshing = "now";
    try {
      const page = await source.list({ limit: pageSize });
      const { error: _, ...rest } = state;
      const older = olderThan(page.sessions, state.sessions);
      if (older.length === 0) next = page.next;
      state = rest;
      change({ phase: "ready", sessions: [...page.sessions, ...(page.next === undefined ? [] : older)], hasMore: next !== undefined });
    } catch (error) {
      change({ phase: state.sessions.length > 0 ? "ready" : "failed", error: errorOf(error) });
    }
    const isAgain = (refreshing as string) === "again";
    refreshing = "no";
    if (isAgain) refresh();
  };
  const refresh = (): void => {
    if (refreshing === "now") refreshing = "again";
    if (refreshing !== "no") return;
    refreshing = "soon";
    // The first page is wanted at once; after that, hints of a running answer come in crowds.
    if (state.phase === "loading") void read();
    else later(() => void read(), refreshPauseMs);
  };

  return {
    read: () => state,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    refresh,
    async showMore() {
      if (next === undefined) return;
      const page = await source.list({ limit: pageSize, before: next });
      next = page.next;
      const known = new Set(state.sessions.map(({ id }) => id));
      change({ sessions: [...state.sessions, ...page.sessions.filter(({ id }) => !known.has(id))], hasMore: next !== undefined });
    },
    search(query) {
      const mine = ++searches;
      if (query.trim() === "") {
        const { hits: _, ...rest } = state;
        state = rest;
        change({ query });
        return;
      }
      change({ query });
      later(async () => {
        if (mine !== searches) return;
        try {
          const hits = await source.search(query.trim(), { limit: pageSize });
          if (mine === searches) change({ hits });
        } catch (error) {
          if (mine === searches) change({ error: errorOf(error), hits: [] });
        }
      }, searchPauseMs);
    },
    async rename(id, title) {
      const before = state;
      replace(id, (session) => ({ ...session, title }));
      await source.change(id, { title }).catch((error: unknown) => {
        change({ sessions: before.sessions });
        throw error;
      });
    },
    async remove(id) {
      const before = state;
      replace(id, () => undefined);
      await source.remove(id).catch((error: unknown) => {
        change({ sessions: before.sessions });
        throw error;
      });
    },
  };
}

/** What was loaded before and stands behind the page. */
function olderThan(page: readonly SessionSummary[], loaded: readonly SessionSummary[]): readonly SessionSummary[] {
  const last = page.at(-1);
  if (!last) return [];
  const ids = new Set(page.map(({ id }) => id));
  return loaded.filter(({ id, updatedAt }) => !ids.has(id) && updatedAt <= last.updatedAt);
}
