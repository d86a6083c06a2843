import type { SessionRef } from "../../message/session-ref.ts";

/** The processes that run the sessions of a store, as far as children need them. */
export interface ChildWorkers {
  /** Offers them a session that needs an owner. False if the offer failed: then a sweep finds the session. Never rejects. */
  offer(ref: SessionRef): Promise<boolean>;
  /** True if there may be other processes. Then children that run at the same time are spread over all processes. */
  readonly areMany: boolean;
}
