import type { KeyOwner } from "@loopwright/core";

/** What one place of a log has spent: one model call, or what a tool, a hook or a summary used by itself. */
export interface UsageEntry {
  /** `<scope>/<session>/<seq>.<place>`: an entry that comes again counts once. */
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly scope: string;
  /** The user whose run it was; empty where no process has seen it. */
  readonly user: string;
  readonly agent: string;
  readonly provider: string;
  readonly model: string;
  /** Prompt tokens at full price, read from the vendor's cache, written to it, and tokens of answers. */
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
  /** Whose key paid for it. Absent: that of the platform, or no model was called. */
  readonly keyOwner?: KeyOwner;
  /** Billionths of a US dollar, so that sums are exact. Absent: the price is unknown. */
  readonly costNanos?: number;
}

/** What sums can be broken down by. A day is one of UTC. */
export const usageDimensions = ["day", "scope", "user", "agent", "provider", "model"] as const;
export type UsageDimension = (typeof usageDimensions)[number];

export interface UsageQuery {
  /** Default: all scopes. */
  readonly scope?: string;
  readonly user?: string;
  /** Days as `2026-11-24`, both included. Default: all. */
  readonly from?: string;
  readonly to?: string;
  /** Default: one sum. */
  readonly by?: readonly UsageDimension[];
}

/** The sum of the entries that have the same values of the dimensions that were asked for. */
export interface UsageSum {
  readonly day?: string;
  readonly scope?: string;
  readonly user?: string;
  readonly agent?: string;
  readonly provider?: string;
  readonly model?: string;
  readonly calls: number;
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
  readonly costUsd: number;
  /** Calls without a known price, which the cost lacks. */
  readonly unpricedCalls: number;
}

/** Usage and cost by day, scope, user, agent, provider and model. Names and numbers alone: no content. */
export interface UsageStore {
  /**
   * Adds entries, each once. They may be written a moment later. An entry that is older than what the store remembers is not counted: it cannot know
   * whether it has counted it before. Never throws.
   */
  add(entries: readonly UsageEntry[]): void;
  /** Everything that was added before, in the order of the dimensions. @throws AgentError STORE_UNAVAILABLE when it cannot be read */
  query(query?: UsageQuery): Promise<readonly UsageSum[]>;
}

/** The day of UTC. */
export const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);
