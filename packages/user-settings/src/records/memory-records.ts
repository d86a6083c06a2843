import type { JsonObject } from "@loopwright/core";
import { encodedRecord, newRevision, recordsFull } from "./encoded-record.ts";
import { type RecordKind, type RecordOwner, recordLimits, type StoredRecord, type UserRecords } from "./user-records.ts";

interface Held {
  readonly text: string;
  readonly revision: string;
}

/** Records in the memory of this process, lost when it ends. */
export function memoryRecords(): UserRecords {
  const lists = new Map<string, Map<string, Held>>();
  const listOf = ({ scope, user }: RecordOwner, kind: RecordKind): Map<string, Held> => {
    const key = JSON.stringify([scope, user, kind]);
    const list = lists.get(key) ?? new Map<string, Held>();
    lists.set(key, list);
    return list;
  };
  const stored = (id: string, { text, revision }: Held): StoredRecord => ({ id, value: JSON.parse(text) as JsonObject, revision });
  return {
    async get(owner, kind, id) {
      const held = listOf(owner, kind).get(id);
      return held && stored(id, held);
    },
    list: async (owner, kind) => [...listOf(owner, kind)].map(([id, held]) => stored(id, held)),
    async put(owner, kind, { id, value, expected }) {
      const text = encodedRecord(value);
      const list = listOf(owner, kind);
      const held = list.get(id);
      if (expected !== undefined && (held?.revision ?? null) !== expected) return undefined;
      if (!held && list.size >= recordLimits.perKindMax) throw recordsFull();
      const revision = newRevision();
      list.set(id, { text, revision });
      return revision;
    },
    async remove(owner, kind, { id, expected }) {
      const list = listOf(owner, kind);
      if (expected !== undefined && list.get(id)?.revision !== expected) return false;
      return list.delete(id);
    },
  };
}
