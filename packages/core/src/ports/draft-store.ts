import type { Json } from "../message/json.ts";
import type { SessionRef } from "./session-log.ts";

/**
 * One small value per name and session, overwritten in place: snapshots of the fold, and drafts of the answer in progress. A cache: a value that
 * is lost is computed again from the log.
 */
export interface DraftStore {
  put(ref: SessionRef, name: string, value: Json): Promise<void>;
  get(ref: SessionRef, name: string): Promise<Json | undefined>;
  remove(ref: SessionRef, name: string): Promise<void>;
}
