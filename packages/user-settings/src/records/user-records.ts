import type { Access, JsonObject } from "@loopwright/core";

/** Whose entries they are: a user within a scope (a tenant). */
export type RecordOwner = Pick<Access, "user" | "scope">;

/** What an entry is of. */
export type RecordKind = "provider" | "active-provider" | "plan" | "settings";

export interface UserRecord {
  readonly id: string;
  readonly value: JsonObject;
}

/**
 * Small entries of users: which models they brought, how they want to be answered. They hold references to secrets, never secrets.
 * `userRecordsKit` of `@loopwright/user-settings/testing` holds the promises.
 */
export interface UserRecords {
  /** The entry now, not one that an earlier call saw. @throws AgentError STORE_* */
  get(owner: RecordOwner, kind: RecordKind, id: string): Promise<JsonObject | undefined>;
  /** All entries of the kind, in the order in which their ids were first put. */
  list(owner: RecordOwner, kind: RecordKind): Promise<readonly UserRecord[]>;
  /** Takes the place of an earlier entry. @throws AgentError STORE_FULL for a new one beyond `recordLimits.perKindMax`, PAYLOAD_TOO_LARGE, STORE_* */
  put(owner: RecordOwner, kind: RecordKind, record: UserRecord): Promise<void>;
  /** Whether there was one. */
  remove(owner: RecordOwner, kind: RecordKind, id: string): Promise<boolean>;
}

export const recordLimits: { readonly perKindMax: number; readonly valueBytes: number } = {
  /** Entries of one kind that one user has. */
  perKindMax: 50,
  /** Of one entry, as JSON. */
  valueBytes: 32 * 1024,
};
