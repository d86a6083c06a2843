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

/** Lists and searches the sessions of a scope. Adapters keep it in step with the log they belong to. */
export interface SessionIndex {
  /** Newest change first; `before` pages on from the last summary of the page before. */
  list(
    scope: string,
    options?: { readonly limit?: number; readonly before?: { readonly updatedAt: number; readonly id: string } },
  ): Promise<readonly SessionSummary[]>;
  get(scope: string, id: string): Promise<SessionSummary | undefined>;
  /** Sessions whose title or messages hold all words of the query (case and accents do not matter; a word also finds longer ones that begin with it), best first. Bad syntax is impossible: the query is plain words. */
  search(scope: string, query: string, options?: { readonly limit?: number }): Promise<readonly SessionHit[]>;
  /** Makes the projection anew from the logs; returns how many sessions it holds. */
  rebuild(scope: string): Promise<number>;
}
