import type { RunStatus, Sharing } from "../loop/fact.ts";
import type { SessionStatus, WaitingReason } from "../loop/state.ts";
import type { Json } from "../message/json.ts";
import type { Cost, Usage } from "../message/usage.ts";

export type { WaitingReason } from "../loop/state.ts";

/**
 * A session in a list. A projection of its log that can be rebuilt at any time, never the source of truth; `projectSession` of `@loopwright/core/stores` makes
 * it.
 */
export interface SessionSummary {
  readonly id: string;
  readonly agent: string;
  /** The session whose run has started this one. */
  readonly parent?: string;
  /** The given title; otherwise the beginning of the first user message. */
  readonly title?: string;
  readonly status: SessionStatus;
  /** Present while the session waits. */
  readonly waitsFor?: readonly WaitingReason[];
  /** Calls that wait for a person's approval, those of its children included; also while other calls are still running. */
  readonly pendingApprovals?: number;
  /** The outcome of the last run. */
  readonly lastRun?: { readonly status: RunStatus; readonly reason: string };
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly lastSeq: number;
  readonly messageCount: number;
  readonly participants?: readonly string[];
  readonly sharing?: Sharing;
  readonly usage?: Usage;
  readonly cost?: Cost;
  readonly metadata?: { readonly [key: string]: Json };
}

export interface SessionHit {
  readonly session: SessionSummary;
  /** A piece of the text around the first match, at most 200 characters, plain text. */
  readonly excerpt: string;
}

export interface IndexQuery {
  /** Default 100. */
  readonly limit?: number;
  /** Once it is aborted, the promise rejects with its reason, and the index sends no further requests to its storage. */
  readonly signal?: AbortSignal;
}

export interface SearchQuery extends IndexQuery {
  /** Called once, before the answer, by an adapter that did not search all sessions of the scope: there may be more hits. */
  readonly onUnsearched?: () => void;
}

export interface ListQuery extends IndexQuery {
  /** Cursor: the last summary of the previous page. */
  readonly before?: { readonly updatedAt: number; readonly id: string };
  /** Lists the children of this session. Default: the sessions without a parent. */
  readonly parent?: string;
}

/**
 * Lists and searches the sessions of a scope that have facts; children are listed only by their parent, and are not searched. Adapters update it with the log
 * of the same store, so that a change is listed and found at once. Removed sessions are neither listed nor found; a session that cannot be read may be left
 * out. A page or a search reads a bounded amount of data that does not grow with the number of sessions, except for sessions that were written since the last
 * query.
 */
export interface SessionIndex {
  /** Newest change first; sessions of the same moment by descending id, so that pages of any size give each session once. */
  list(scope: string, options?: ListQuery): Promise<readonly SessionSummary[]>;
  get(scope: string, id: string): Promise<SessionSummary | undefined>;
  /**
   * Sessions whose title or messages hold all words of the query (case and accents do not matter; a word also finds longer words that begin with it, unless
   * texts are encrypted), best match first. Searched are the texts of users and the model and the current title, not those of tools. In scripts without
   * spaces each character is a word. The query is plain words, so there is no syntax error; a query without a word finds nothing. In a large scope an adapter
   * may search only the newest sessions or texts; its documentation states how many.
   * @throws AgentError SEARCH_UNSUPPORTED by a store that has no search, for every query
   */
  search(scope: string, query: string, options?: SearchQuery): Promise<readonly SessionHit[]>;
  /** Rebuilds the projection from the logs of all sessions that can be read. Returns their number. */
  rebuild(scope: string): Promise<number>;
}
