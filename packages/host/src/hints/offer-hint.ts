import { failureOf } from "@loopwright/core";
import type { Logger, RunQueue, SessionRef } from "@loopwright/core/ports";

/** Offers a session that may have work to the workers, through the queue; false if that fails. Never rejects: a sweep finds the session of a lost hint. */
export type OfferHint = (ref: SessionRef) => Promise<boolean>;

/** Makes a function that offers hints to the queue. A failure is logged once, and again only after an offer has succeeded in between. */
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
