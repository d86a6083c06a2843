/** What became of the vendor's cache between two model calls of a session. */
export interface CacheFinding {
  readonly scope: string;
  readonly session: string;
  readonly runId: string;
  readonly turn: number;
  readonly at: number;
  readonly provider: string;
  readonly model: string;
  /** The first piece of the request that differs from the call before; absent: nothing that was sent before has changed. */
  readonly changed?: { readonly kind: "tools" | "system" | "history" | "options"; readonly name: string };
  /** `changed`: the request broke the cache. `expired`: it did not, and the vendor read less than it could have, usually because the call came too late. `hit`. `first`. */
  readonly verdict: "first" | "hit" | "changed" | "expired";
  /** Prompt tokens of the call before that this call repeated or could have repeated, by the vendor's count. */
  readonly repeatableTokens: number;
  /** Prompt tokens that were read from the cache. */
  readonly cachedTokens: number;
  /** How much more the call cost than it would have with the repeatable tokens read from the cache; absent without prices. */
  readonly lostUsd?: number;
}

/** The stream of findings. */
export const cacheStream = "_platform.ai.cache";
