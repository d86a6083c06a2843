import { failureOf } from "@loopwright/core";
import type { Logger, RunQueue, SessionRef } from "@loopwright/core/ports";

/** Tells workers, by way of the queue, that a session may have work; false when it fails. Never rejects: what is lost a sweep finds. */
export type OfferHint = (ref: SessionRef) => Promise<boolean>;

/** Offers to the queue; says once that it fails, and again after it has worked in between. */
export function hintOffers(queue: RunQueue, logger: Logger): OfferHint {
  let isFailing = false;
  return async (ref) => {
    try {
      await queue.offer(ref);
      isFailing = false;
      return true;
    } catch (error) {
      const fields = { code: failureOf(error).code };
      if (!isFailing) logger.log("warn", "The run queue takes no hints: workers find their work by sweeps meanwhile.", fields);
      isFailing = true;
      return false;
    }
  };
}
