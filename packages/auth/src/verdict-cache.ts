import type { Clock } from "@loopwright/core/ports";
import type { Principal } from "@loopwright/server";

/** Verdicts by the digest of their token. */
export interface VerdictCache {
  get(digest: string): { readonly principal: Principal | undefined } | undefined;
  /** Until `until`, and no longer than the principal lasts. */
  keep(digest: string, principal: Principal | undefined, until: number): void;
}

const entriesMax = 10_000;

export function createVerdictCache(clock: Clock): VerdictCache {
  const entries = new Map<string, { readonly principal: Principal | undefined; readonly until: number }>();
  return {
    get(digest) {
      const entry = entries.get(digest);
      if (entry && entry.until > clock.now()) return entry;
      entries.delete(digest);
      return undefined;
    },
    keep(digest, principal, until) {
      const end = Math.min(until, principal?.expiresAt ?? until);
      if (end <= clock.now()) return;
      const [oldest] = entries.size >= entriesMax ? entries.keys() : [];
      if (oldest !== undefined) entries.delete(oldest);
      entries.set(digest, { principal, until: end });
    },
  };
}
