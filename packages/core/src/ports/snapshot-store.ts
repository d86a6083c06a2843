import type { Json } from "../message/json.ts";
import type { SessionRef } from "../message/session-ref.ts";

/**
 * Small values beside the log, one per session and name, overwritten in place: snapshots of the fold, and the draft of an open stream. A cache:
 * a lost value is computed again from the log. The values of a removed session are removed, and a later `put` for it keeps nothing.
 */
export interface SnapshotStore {
  /** Replaces the value: any JSON, `null` too, of a few megabytes. */
  put(ref: SessionRef, name: string, value: Json): Promise<void>;
  /** `undefined` for a name without a value. */
  get(ref: SessionRef, name: string): Promise<Json | undefined>;
  /** Removes this value only. Does nothing for a name without one. */
  remove(ref: SessionRef, name: string): Promise<void>;
}
