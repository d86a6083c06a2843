import type { Usage } from "@loopwright/core/protocol";

/** Tokens of one model call, or of a sum of calls, as the embedding product counts them. */
export interface TokenUsage {
  /** Everything that was read, `CachedPromptTokens` and `CacheCreationTokens` included. */
  readonly PromptTokens: number;
  /** The part of it that came from the vendor's cache. */
  readonly CachedPromptTokens: number;
  readonly OutputTokens: number;
  /** The part of it that was written to the vendor's cache. Absent where the vendor reports none. */
  readonly CacheCreationTokens?: number;
}

/** The counts of all vendors in one form. `undefined` where a vendor has reported neither what was read nor what was written: unknown is not 0. */
export function tokenUsage(usage: Usage | undefined): TokenUsage | undefined {
  if (!usage) return undefined;
  const { input, cacheRead, cacheWrite, output } = usage;
  if (input === undefined && cacheRead === undefined && cacheWrite === undefined && output === undefined) return undefined;
  return {
    PromptTokens: (input ?? 0) + (cacheRead ?? 0) + (cacheWrite ?? 0),
    CachedPromptTokens: cacheRead ?? 0,
    OutputTokens: output ?? 0,
    ...(cacheWrite === undefined ? {} : { CacheCreationTokens: cacheWrite }),
  };
}
