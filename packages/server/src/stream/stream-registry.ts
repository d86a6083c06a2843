import type { Principal } from "../server-options.ts";

/** Counts open event streams, and refuses those that are too many. */
export interface StreamRegistry {
  readonly open: number;
  /** Takes a place; gives it back with the function. @throws AgentError CONNECTION_LIMIT */
  take(principal: Principal): () => void;
}
