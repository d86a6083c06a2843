import type { Fact } from "../../loop/fact.ts";
import { fold } from "../../loop/fold.ts";
import { emptyState, type State } from "../../loop/state.ts";
import type { BlobStore } from "../../ports/blob-store.ts";
import type { SessionRef } from "../../ports/session-log.ts";
import type { SessionSnapshot } from "../../protocol/snapshot.ts";
import { decodeFacts } from "../log/decode-facts.ts";
import { snapshotOf } from "./public-snapshot.ts";

/** A log that is folded as it grows. */
export interface SessionFold {
  /** The seq of the last fact folded; 0 before the first. */
  readonly seq: number;
  /** Folds the next facts. @throws AgentError SESSION_CORRUPT, SESSION_TOO_NEW, STORE_*, BLOB_NOT_FOUND; then no fact was folded */
  add(facts: readonly Fact[]): Promise<void>;
  /** The session as a screen shows it. Takes time that grows with the messages. */
  snapshot(): SessionSnapshot;
}

/** A fold of a session's log that begins at its start: for a view of sessions that is kept beside the log. Large values come from `blobs`. */
export function foldSession(ref: SessionRef, blobs: BlobStore): SessionFold {
  let state: State = emptyState;
  return {
    get seq() {
      return state.seq;
    },
    async add(facts) {
      const before = state;
      const understood = await decodeFacts(facts, { blobs, scope: ref.scope, sessionId: ref.session, after: before.seq });
      if (understood.tooNew) throw understood.tooNew;
      state = understood.facts.reduce(fold, before);
    },
    snapshot: () => snapshotOf(state, ref.session),
  };
}
