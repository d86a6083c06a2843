import { refKey, type SessionRef } from "../message/session-ref.ts";

/** The hints that wait in a queue: those of a scope in the order of their offers, the scopes in turn. */
export interface HintList {
  /** Adds a hint, unless it is there already; false if `max` hints wait and no scope has more of them than this one would have. */
  add(ref: SessionRef, max: number): boolean;
  /** Removes the first hint that `may` accepts, of the scope whose turn is the longest ago. */
  take(may: (key: string) => boolean): SessionRef | undefined;
  clear(): void;
}

export function createHintList(): HintList {
  /** The scope whose turn comes first stands first; each has at least one hint. */
  const scopes = new Map<string, Map<string, SessionRef>>();
  let count = 0;

  function remove(scope: string, key: string): void {
    const hints = scopes.get(scope);
    if (!hints?.delete(key)) return;
    count--;
    if (hints.size === 0) scopes.delete(scope);
  }

  /** Drops the oldest hint of the scope with the most, for a scope that has fewer; false if none has more. */
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
          // At the end of the turns, if it has more.
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
