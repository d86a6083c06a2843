import { isAgentError } from "../../errors.ts";
import type { Clock } from "../../ports/clock.ts";

/** The longest wait between two tries. */
const waitMaxMs = 4_000;

/** Repeats the work, which must be idempotent, while the store is unavailable. Rejects with that error once the work is not wanted, with others at once. */
export async function retryUntilConfirmed<T>(clock: Clock, work: () => Promise<T>, isWanted: () => boolean): Promise<T> {
  for (let waitMs = 250; ; waitMs = Math.min(2 * waitMs, waitMaxMs)) {
    try {
      return await work();
    } catch (error) {
      if (!isAgentError(error, "STORE_UNAVAILABLE") || !isWanted()) throw error;
      await new Promise<void>((resolve) => void clock.after(waitMs, resolve));
      if (!isWanted()) throw error;
    }
  }
}
