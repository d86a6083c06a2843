import type { State } from "../../loop/state.ts";
import type { SessionSnapshot } from "../../protocol/snapshot.ts";
import { snapshotOf } from "./public-snapshot.ts";

/** Shares one snapshot among all callers while the session does not change and a caller holds it, because snapshots grow with the messages. */
export class SharedSnapshot {
  readonly #sessionId: string;
  #state: WeakRef<State> | undefined;
  #isReadOnly = false;
  #last: WeakRef<SessionSnapshot> | undefined;

  constructor(sessionId: string) {
    this.#sessionId = sessionId;
  }

  of(state: State, isReadOnly: boolean): SessionSnapshot {
    const isSame = state === this.#state?.deref() && isReadOnly === this.#isReadOnly;
    const known = isSame ? this.#last?.deref() : undefined;
    if (known) return known;
    const snapshot = snapshotOf(state, this.#sessionId, isReadOnly);
    this.#state = new WeakRef(state);
    this.#isReadOnly = isReadOnly;
    this.#last = new WeakRef(snapshot);
    return snapshot;
  }
}
