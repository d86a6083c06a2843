import type { JsonObject } from "@loopwright/core";

/** Whose circuits they are. */
export interface CircuitOwner {
  readonly scope: string;
  readonly user: string;
}

/**
 * Where processes keep the circuits that they share: the part of `UserRecords` of `@loopwright/user-settings` that is needed, whose kit
 * (`userRecordsKit`) holds the promises. A `put` whose `expected` is not the revision that is there stores nothing and gives `undefined`.
 */
export interface CircuitRecords {
  /** The entry now, not one that an earlier call saw. */
  get(owner: CircuitOwner, kind: "circuit", id: string): Promise<{ readonly value: JsonObject; readonly revision: string } | undefined>;
  /** The new revision. `expected`: the revision that the writer has read; `null`: there was none. */
  put(
    owner: CircuitOwner,
    kind: "circuit",
    change: { readonly id: string; readonly value: JsonObject; readonly expected: string | null },
  ): Promise<string | undefined>;
}

/** Records of one process. */
export function memoryCircuits(): CircuitRecords {
  const held = new Map<string, { readonly value: JsonObject; readonly revision: string }>();
  let count = 0;
  const keyOf = ({ scope, user }: CircuitOwner, id: string): string => JSON.stringify([scope, user, id]);
  return {
    get: async (owner, _kind, id) => held.get(keyOf(owner, id)),
    async put(owner, _kind, { id, value, expected }) {
      const key = keyOf(owner, id);
      if ((held.get(key)?.revision ?? null) !== expected) return undefined;
      const revision = String(++count);
      held.set(key, { value, revision });
      return revision;
    },
  };
}
