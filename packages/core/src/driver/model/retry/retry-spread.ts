import type { CallGuardLimits } from "./call-guard-limits.ts";

/** Spreads the retries of a process. With random waits alone, too many of a few dozen retries would be due at the same moment. */
export interface RetrySpread {
  /** A wait of at least `waitMs`, and longer if too many retries are due at that moment. */
  reserve(nowMs: number, waitMs: number): number;
}

export function createRetrySpread({
  bucketMs,
  bucketShare,
  waitMaxMs,
}: Pick<CallGuardLimits, "bucketMs" | "bucketShare" | "waitMaxMs">): RetrySpread {
  // The ring is longer than the longest wait, so that no bucket of the past is used for the future.
  const length = Math.ceil(waitMaxMs / bucketMs) + 2;
  // Created by the first retry, because most processes never retry.
  let made: { index: number; count: number }[] | undefined;
  const ring = (): { index: number; count: number }[] => {
    made ??= Array.from({ length }, () => ({ index: -1, count: 0 }));
    return made;
  };
  const bucketAt = (index: number): { index: number; count: number } => {
    const bucket = ring()[index % length] as { index: number; count: number };
    if (bucket.index !== index) Object.assign(bucket, { index, count: 0 });
    return bucket;
  };

  return {
    reserve(nowMs, waitMs) {
      const first = Math.floor(nowMs / bucketMs);
      let pending = 1;
      for (const { index, count } of ring()) if (index >= first) pending += count;
      const room = Math.max(1, Math.floor(bucketShare * pending));
      const last = Math.floor((nowMs + waitMaxMs) / bucketMs);
      for (let index = Math.ceil((nowMs + waitMs) / bucketMs); index <= last; index++) {
        const bucket = bucketAt(index);
        if (bucket.count >= room) continue;
        // The retries are spread evenly within the bucket too, so that no other interval of that length has more retries.
        return index * bucketMs + (bucket.count++ / room) * bucketMs - nowMs;
      }
      return waitMs;
    },
  };
}
