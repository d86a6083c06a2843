import type { CallGuardLimits } from "./call-guard-limits.ts";

/** Keeps the retries of a process apart: chance alone puts too many of a few dozen into the same moment. */
export interface RetrySpread {
  /** The wait that was drawn, or a somewhat longer one where too many are due at that moment already. */
  place(nowMs: number, waitMs: number): number;
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
    place(nowMs, waitMs) {
      const first = Math.floor(nowMs / bucketMs);
      let pending = 1;
      for (const { index, count } of buckets) if (index >= first) pending += count;
      const room = Math.max(1, Math.floor(bucketShare * pending));
      for (let at = nowMs + waitMs; at <= nowMs + waitMaxMs; at += bucketMs) {
        const bucket = bucketAt(Math.floor(at / bucketMs));
        if (bucket.count >= room) continue;
        bucket.count++;
        return at - nowMs;
      }
      return waitMs;
    },
  };
}
