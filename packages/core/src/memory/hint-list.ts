import { refKey, type SessionRef } from "../message/session-ref.ts";

/** The hints that wait in a queue. The scopes take turns; hints of one scope come in the order of their offers. */
export interface HintList {
  /** Adds a hint, unless it waits already; false if `max` hints wait and no scope has more hints than the scope of this hint would have. */
  add(ref: SessionRef, max: number): boolean;
  /** Removes and returns the first hint that `may` accepts, from the scope with the oldest turn. */
  take(may: (key: string) => boolean): SessionRef | undefined;
  clear(): void;
}

export function createHintList(): HintList {
  /** In the order of their turns; each scope has at least one hint. */
  const scopes = new Map<string, Map<string, SessionRef>>();
  let count = 0;

  function remove(scope: string, key: string): void {
    const hints = scopes.get(scope);
    if (!hints?.delete(key)) return;
    count--;
    if (hints.size === 0) scopes.delete(scope);
  }

  /** Drops the oldest hint of the scope with the most hints; false if `forScope` would have as many. */
  function makeRoom(forScope: string): boolean {
    let most: readonly [string, Map<string, SessionRef>] | undefined;
    for (const each of scopes) if (!most || each[1].size > most[1].size) most = each;
    if (!most || most[1].size <= (scopes.get(forScope)?.size ?? 0) + 1) return false;
    const [oldest] = most[1].keys();
    if (oldest !== undefined) remove(most[0], oldest);
    return true;
  }

  return {
    add({ scope, session }, max) {
      const key = refKey({ scope, session });
      if (scopes.get(scope)?.has(key)) return true;
      if (count >= max && !makeRoom(scope)) return false;
      const hints = scopes.get(scope) ?? new Map<string, SessionRef>();
      scopes.set(scope, hints.set(key, { scope, session }));
      count++;
      return true;
    },
    take(may) {
      for (const [scope, hints] of scopes)
        for (const [key, ref] of hints) {
          if (!may(key)) continue;
          remove(scope, key);
          // A scope with more hints gets the last turn.
          if (scopes.delete(scope)) scopes.set(scope, hints);
          return ref;
        }
      return undefined;
    },
    clear() {
      scopes.clear();
      count = 0;
    },
  };
}
