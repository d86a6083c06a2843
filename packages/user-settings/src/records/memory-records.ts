import type { JsonObject } from "@loopwright/core";
import { encodedRecord, recordsFull } from "./encoded-record.ts";
import { type RecordKind, type RecordOwner, recordLimits, type UserRecord, type UserRecords } from "./user-records.ts";

/** Entries in this process, gone with it. */
export function memoryRecords(): UserRecords {
  const lists = new Map<string, Map<string, string>>();
  const listOf = ({ scope, user }: RecordOwner, kind: RecordKind): Map<string, string> => {
    const key = JSON.stringify([scope, user, kind]);
    const list = lists.get(key) ?? new Map<string, string>();
    lists.set(key, list);
    return list;
  };
  const decoded = (text: string): JsonObject => JSON.parse(text) as JsonObject;
  return {
    async get(owner, kind, id) {
      const text = listOf(owner, kind).get(id);
      return text === undefined ? undefined : decoded(text);
    },
    list: async (owner, kind) => [...listOf(owner, kind)].map(([id, text]): UserRecord => ({ id, value: decoded(text) })),
    async put(owner, kind, { id, value }) {
      const text = encodedRecord(value);
      const list = listOf(owner, kind);
      if (!list.has(id) && list.size >= recordLimits.perKindMax) throw recordsFull();
      list.set(id, text);
    },
    remove: async (owner, kind, id) => listOf(owner, kind).delete(id),
  };
}
