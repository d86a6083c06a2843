import type { SessionRef } from "../../message/session-ref.ts";

/** The processes that run the sessions of a store, as far as children need them. */
export interface ChildWorkers {
  /** Offers a session that needs an owner to them; false where that failed, and a sweep finds it. Never rejects. */
  offer(ref: SessionRef): Promise<boolean>;
  /** True if there may be others than this process, so that children which run beside one another are spread over them. */
  readonly areMany: boolean;
}
