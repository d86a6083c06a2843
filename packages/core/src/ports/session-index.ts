import type { Json } from "../message/json.ts";
import type { Cost, Usage } from "../message/usage.ts";

/** What a run that waits is waiting for: results of client tools, or people who decide on calls. */
export type WaitingReason = "client_tools" | "approvals";

/** What a list shows of a session. A projection of its log: never the truth, rebuilt from the log at any time. */
export interface SessionSummary {
  readonly id: string;
  readonly agent: string;
  /** As given, else the beginning of the first user message. */
  readonly title?: string;
  readonly status: "idle" | "running" | "waiting";
  /** For what it waits, when it does. */
  readonly waitsFor?: readonly WaitingReason[];
  /** How the last run ended. */
  readonly lastRun?: { readonly status: "completed" | "waiting" | "aborted" | "failed"; readonly reason: string };
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly lastSeq: number;
  readonly messageCount: number;
  readonly participants?: readonly string[];
  readonly usage?: Usage;
  readonly cost?: Cost;
  readonly metadata?: { readonly [key: string]: Json };
  readonly closed?: boolean;
}

export interface SessionHit {
  readonly session: SessionSummary;
  /** A piece of the text around the first match, at most 200 characters, plain text. */
  readonly excerpt: string;
}

export interface IndexQuery {
  /** Default 100. */
  readonly limit?: number;
  /** Once aborted, the promise rejects with its reason, and nothing more is asked of what the index lies in. */
  readonly signal?: AbortSignal;
}

export interface ListQuery extends IndexQuery {
  /** Pages on from the last summary of the page before. */
  readonly before?: { readonly updatedAt: number; readonly id: string };
}

/**
 * Lists and searches the sessions of a scope. Adapters keep it in step with the log they belong to. What a page or a search reads has a bound
 * that does not grow with the number of sessions, but for what was written since the last one.
 */
export interface SessionIndex {
  /** Newest change first. */
  list(scope: string, options?: ListQuery): Promise<readonly SessionSummary[]>;
  get(scope: string, id: string): Promise<SessionSummary | undefined>;
  /**
   * Sessions whose title or messages hold all words of the query (case and accents do not matter; a word also finds longer ones that begin with it),
   * best first. Bad syntax is impossible: the query is plain words. Of a large scope an adapter looks at the newest sessions or texts alone; it says
   * at how many.
   */
  search(scope: string, query: string, options?: IndexQuery): Promise<readonly SessionHit[]>;
  /** Makes the projection anew from the logs; returns how many sessions it holds. */
  rebuild(scope: string): Promise<number>;
}
