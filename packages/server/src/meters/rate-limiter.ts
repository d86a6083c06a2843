import { AgentError } from "@loopwright/core";
import type { Clock } from "@loopwright/core/ports";
import { RateLimiterMemory } from "rate-limiter-flexible";
import type { HttpLimits } from "../server-limits.ts";
import type { Principal } from "../server-options.ts";

/** The caller that a request counts for. Without `user` the caller is unknown; all unknown callers count together. */
export type Counted = Partial<Pick<Principal, "scope" | "user">>;

/** Counts the requests of each caller, and those of each scope, in each minute of the clock. */
export interface RateLimiter {
  /** @throws AgentError RATE_LIMITED with the time until the next minute */
  take(caller: Counted, isWrite: boolean): Promise<void>;
  close(): void;
}

const minuteMs = 60_000;
/** Ids have no such character, so no known caller has this key. */
const unknownCallers = "?";

/**
 * The minute is a part of the key, so the clock alone decides when a new minute begins. The library removes the counts of past minutes.
 */
export function createRateLimiter(limits: HttpLimits, clock: Clock): RateLimiter {
  const { requestsPerMinute, writesPerMinute } = limits;
  const limiter = (keyPrefix: string, points: number): RateLimiterMemory => new RateLimiterMemory({ keyPrefix, points, duration: 60 });
  const requests = limiter("r", requestsPerMinute);
  const writes = limiter("w", writesPerMinute);
  const requestsOfScope = limiter("rs", Math.max(requestsPerMinute, limits.requestsPerScope));
  const writesOfScope = limiter("ws", Math.max(writesPerMinute, limits.writesPerScope));

  async function consume(limiter: RateLimiterMemory, caller: string, what: string): Promise<void> {
    const now = clock.now();
    const minute = Math.floor(now / minuteMs);
    const isTaken = await limiter.consume(`${minute}:${caller}`).then(
      () => true,
      () => false,
    );
    if (isTaken) return;
    throw new AgentError("RATE_LIMITED", {
      message: `More than ${limiter.points} ${what} in a minute.`,
      retryAfterMs: (minute + 1) * minuteMs - now,
    });
  }

  return {
    async take({ scope, user }, isWrite) {
      const caller = user === undefined ? unknownCallers : `${scope}/${user}`;
      await consume(requests, caller, "requests");
      if (isWrite) await consume(writes, caller, "requests that change something");
      // A request that is refused to its caller does not count for the scope.
      if (scope === undefined) return;
      await consume(requestsOfScope, scope, "requests of the scope");
      if (isWrite) await consume(writesOfScope, scope, "requests of the scope that change something");
    },
    close() {
      // The library sets a timer for every key.
      for (const counts of [requests, writes, requestsOfScope, writesOfScope])
        for (const { key } of counts.dump().storage) void counts.delete(key);
    },
  };
}
