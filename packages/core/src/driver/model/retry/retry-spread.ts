import type { CallGuardLimits } from "./call-guard-limits.ts";

/** Keeps the retries of a process apart: chance alone puts too many of a few dozen into the same moment. */
export interface RetrySpread {
  /** A wait that is at least the one that was drawn, and longer where too many are due at that moment already. */
  reserve(nowMs: number, waitMs: number): number;
}

export function createRetrySpread({
  bucketMs,
  bucketShare,
  waitMaxMs,
}: Pick<CallGuardLimits, "bucketMs" | "bucketShare" | "waitMaxMs">): RetrySpread {
  // A ring that is longer than the longest wait, so that no bucket of the past is taken for one of the future.
  const length = Math.ceil(waitMaxMs / bucketMs) + 2;
  const buckets = Array.from({ length }, () => ({ index: -1, count: 0 }));
  const bucketAt = (index: number): { index: number; count: number } => {
    const bucket = buckets[index % length] as { index: number; count: number };
    if (bucket.index !== index) Object.assign(bucket, { index, count: 0 });
    return bucket;
  };

  return {
    reserve(nowMs, waitMs) {
      const first = Math.floor(nowMs / bucketMs);
      let pending = 1;
      for (const { index, count } of buckets) if (index >= first) pending += count;
      const room = Math.max(1, Math.floor(bucketShare * pending));
      const last = Math.floor((nowMs + waitMaxMs) / bucketMs);
      for (let index = Math.ceil((nowMs + waitMs) / bucketMs); index <= last; index++) {
        const bucket = bucketAt(index);
        if (bucket.count >= room) continue;
        // Evenly within the bucket too, so that no other stretch of its length holds more.
        return index * bucketMs + (bucket.count++ / room) * bucketMs - nowMs;
      }
      return waitMs;
    },
  };
}
