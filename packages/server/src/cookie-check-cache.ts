import type { Clock } from "@loopwright/core/ports";
import type { Principal } from "./server-options.ts";

/** Recent verdicts on the credentials of cookies. */
export interface CookieCheckCache {
  /** The kept verdict, if less than 30 seconds old and `isAnew` is false; else that of `ask`, which requests share while it is made. An error is not kept. */
  of(key: string, isAnew: boolean, ask: () => Promise<Principal | undefined>): Promise<Principal | undefined>;
}

const verdictMs = 30_000;
const keptMax = 10_000;

export function createCookieCheckCache(clock: Clock): CookieCheckCache {
  const kept = new Map<string, { readonly verdict: Promise<Principal | undefined>; readonly at: number }>();
  return {
    of(key, isAnew, ask) {
      const known = kept.get(key);
      if (known && !isAnew && known.at + verdictMs > clock.now()) return known.verdict;
      kept.delete(key);
      const [oldest] = kept.size >= keptMax ? kept.keys() : [];
      if (oldest !== undefined) kept.delete(oldest);
      const made = { verdict: ask(), at: clock.now() };
      kept.set(key, made);
      made.verdict.catch(() => kept.get(key) === made && kept.delete(key));
      return made.verdict;
    },
  };
}
