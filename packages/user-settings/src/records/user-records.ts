import type { Access, JsonObject } from "@loopwright/core";

/** Whose entries they are: a user within a scope (a tenant). */
export type RecordOwner = Pick<Access, "user" | "scope">;

/**
 * What an entry is of. `circuit`: not of a user, but of a vendor that all processes of a deployment leave alone; its owner is the scope. `retention`: how long the
 * sessions of scopes are kept; its owner is the deployment.
 */
export type RecordKind = "provider" | "active-provider" | "plan" | "settings" | "circuit" | "retention";

export interface UserRecord {
  readonly id: string;
  readonly value: JsonObject;
}

/** An entry as it is stored. */
export interface StoredRecord extends UserRecord {
  /** Another one with each `put`, also after a removal. Only equality means something. */
  readonly revision: string;
}

/** An entry to store. */
export interface RecordChange extends UserRecord {
  /** The revision that the writer has read; `null`: there was none. Default: whatever is there is replaced. */
  readonly expected?: string | null;
}

/**
 * Small entries of users: which models they brought, how they want to be answered. They hold references to secrets, never secrets.
 * `userRecordsKit` of `@loopwright/user-settings/testing` holds the promises.
 */
export interface UserRecords {
  /** The entry now, not one that an earlier call saw. @throws AgentError STORE_* */
  get(owner: RecordOwner, kind: RecordKind, id: string): Promise<StoredRecord | undefined>;
  /** All entries of the kind, in the order in which their ids were first put. */
  list(owner: RecordOwner, kind: RecordKind): Promise<readonly StoredRecord[]>;
  /**
   * Stores the entry in the place of an earlier one and gives its new revision; `undefined`: there is another revision than `expected`, and nothing was stored.
   * @throws AgentError STORE_FULL for a new one beyond `recordLimits.perKindMax`, PAYLOAD_TOO_LARGE, STORE_*
   */
  put(owner: RecordOwner, kind: RecordKind, change: RecordChange): Promise<string | undefined>;
  /** Removes the entry, where `expected` is given only that revision of it. Whether it was removed. */
  remove(owner: RecordOwner, kind: RecordKind, entry: { readonly id: string; readonly expected?: string }): Promise<boolean>;
}

export const recordLimits: { readonly perKindMax: number; readonly valueBytes: number } = {
  /** Entries of one kind that one user has. */
  perKindMax: 50,
  /** Of one entry, as JSON. */
  valueBytes: 32 * 1024,
};
