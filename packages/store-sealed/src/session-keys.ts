import type { SessionRef } from "@loopwright/core/ports";

/**
 * The data keys of sessions and scopes, 32 random bytes each. A key that was erased is never given again: what it encrypted is lost, wherever copies of
 * it are. Keep the keys in another place than the sessions, with backups of their own.
 */
export interface SessionKeys {
  /** `undefined`: the session has no key, because it never had one or because it was erased. */
  session(ref: SessionRef): Promise<Uint8Array | undefined>;
  /** The key of the session, made where there is none. Of several calls at once, in any process, all get the same key. */
  createSession(ref: SessionRef): Promise<Uint8Array>;
  /** The key for what belongs to a scope and to no session, and for its words in the index; made where there is none, as for a session. */
  scope(scope: string): Promise<Uint8Array>;
  /** Erases the key of a session. Idempotent. */
  eraseSession(ref: SessionRef): Promise<void>;
  /** Erases the key of the scope and those of all its sessions. Idempotent. */
  eraseScope(scope: string): Promise<void>;
}
