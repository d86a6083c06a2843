import { AgentError, type JsonObject } from "@loopwright/core";
import { encodedRecord, newRevision, recordsFull } from "./encoded-record.ts";
import { type RecordKind, type RecordOwner, recordLimits, type StoredRecord, type UserRecords } from "./user-records.ts";

/** What a conditional write became: `ConditionalBlobs` of `@loopwright/store-blob`. */
type Outcome =
  | { readonly type: "written" | "full" | "unknown" }
  /** With `mayBeOwn` the object that is there may be that of an earlier try. */
  | { readonly type: "refused"; readonly mayBeOwn: boolean };

/** Whole objects under a condition: `s3Blobs` and `fileBlobs` of `@loopwright/store-blob` are such. */
export interface ConditionalObjects {
  get(key: string): Promise<{ readonly bytes: Uint8Array; readonly etag: string } | undefined>;
  put(key: string, bytes: Uint8Array, options?: { readonly ifNoneMatch?: boolean; readonly ifMatch?: string }): Promise<Outcome>;
}

export interface ObjectRecordsOptions {
  readonly objects: ConditionalObjects;
  /** What every key begins with. Default none. */
  readonly prefix?: string;
}

/** How often a change begins again because another one came first. */
const conflictsMax = 20;

/** What a change makes of the entries: others, and what it gives; `undefined`: nothing changes. */
interface Step<Result> {
  readonly entries?: readonly StoredRecord[];
  readonly result: Result;
}

/** Entries of users as one object for each user and kind, for several processes and machines on one bucket. */
export function objectRecords({ objects, prefix = "" }: ObjectRecordsOptions): UserRecords {
  const read = async (key: string): Promise<{ readonly entries: readonly StoredRecord[]; readonly etag?: string }> => {
    const found = await objects.get(key);
    return found
      ? { entries: JSON.parse(new TextDecoder().decode(found.bytes)) as readonly StoredRecord[], etag: found.etag }
      : { entries: [] };
  };
  const keyOf = async ({ scope, user }: RecordOwner, kind: RecordKind): Promise<string> =>
    `${prefix}settings/${scope}/${await digest(user)}/${kind}`;

  async function change<Result>(key: string, step: (entries: readonly StoredRecord[]) => Step<Result>): Promise<Result> {
    for (let conflicts = 0; conflicts < conflictsMax; conflicts++) {
      const held = await read(key);
      const { entries, result } = step(held.entries);
      if (!entries) return result;
      const text = JSON.stringify(entries);
      const condition = held.etag === undefined ? { ifNoneMatch: true } : { ifMatch: held.etag };
      const outcome = await objects.put(key, new TextEncoder().encode(text), condition);
      if (outcome.type === "written") return result;
      if (outcome.type === "refused" && outcome.mayBeOwn && JSON.stringify((await read(key)).entries) === text) return result;
      if (outcome.type === "full") throw new AgentError("STORE_FULL", { message: "The place of the users' settings is full." });
      if (outcome.type === "unknown")
        throw new AgentError("STORE_UNAVAILABLE", { message: "It is not known whether the settings were written." });
    }
    throw new AgentError("STORE_CONFLICT", { message: "Other requests changed the settings too often at once." });
  }

  return {
    get: async (owner, kind, id) => (await read(await keyOf(owner, kind))).entries.find((entry) => entry.id === id),
    list: async (owner, kind) => (await read(await keyOf(owner, kind))).entries,
    async put(owner, kind, { id, value, expected }) {
      const entry: StoredRecord = { id, value: JSON.parse(encodedRecord(value)) as JsonObject, revision: newRevision() };
      return change<string | undefined>(await keyOf(owner, kind), (entries) => {
        const held = entries.find((one) => one.id === id);
        if (expected !== undefined && (held?.revision ?? null) !== expected) return { result: undefined };
        if (!held && entries.length >= recordLimits.perKindMax) throw recordsFull();
        return { entries: held ? entries.map((one) => (one === held ? entry : one)) : [...entries, entry], result: entry.revision };
      });
    },
    remove: async (owner, kind, { id, expected }) =>
      change(await keyOf(owner, kind), (entries): Step<boolean> => {
        const held = entries.find((one) => one.id === id);
        if (!held || (expected !== undefined && held.revision !== expected)) return { result: false };
        return { entries: entries.filter((one) => one !== held), result: true };
      }),
  };
}

/** Keys of objects have small letters and digits alone. */
async function digest(user: string): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(user)));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
