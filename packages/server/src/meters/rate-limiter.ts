import { AgentError } from "@loopwright/core";
import type { Clock } from "@loopwright/core/ports";
import { RateLimiterMemory } from "rate-limiter-flexible";
import type { HttpLimits } from "../server-limits.ts";

/** Counts the requests of each caller in each minute of the clock. */
export interface RateLimiter {
  /** @throws AgentError RATE_LIMITED with the time until the next minute */
  take(caller: string, isWrite: boolean): Promise<void>;
  close(): void;
}

const minuteMs = 60_000;

/**
 * The minute is a part of the key, so that the clock alone decides when a new one begins. What the library adds is that counts of past minutes
 * are forgotten.
 */
export function createRateLimiter({ requestsPerMinute, writesPerMinute }: HttpLimits, clock: Clock): RateLimiter {
  const requests = new RateLimiterMemory({ keyPrefix: "r", points: requestsPerMinute, duration: 60 });
  const writes = new RateLimiterMemory({ keyPrefix: "w", points: writesPerMinute, duration: 60 });

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
    async take(caller, isWrite) {
      await consume(requests, caller, "requests");
      if (isWrite) await consume(writes, caller, "requests that change something");
    },
    close() {
      // The library sets a timer for every key.
      for (const limiter of [requests, writes]) for (const { key } of limiter.dump().storage) void limiter.delete(key);
    },
  };
}
