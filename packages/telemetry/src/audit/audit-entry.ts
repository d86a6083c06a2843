import { createHash } from "node:crypto";
import type { Json, JsonObject } from "@loopwright/core";

/** What has happened: names, ids and verdicts, never content. */
export interface AuditRecord {
  /** The user; `system` where no user asked for it. */
  readonly user: string;
  /** For example `approval.decided`. */
  readonly action: string;
  readonly session?: string;
  readonly verdict?: string;
  /** Ids and names. */
  readonly detail?: { readonly [name: string]: string };
  /** Equal ids are recorded once, as far as the last 1,000 entries know. */
  readonly id?: string;
}

/** One entry of the chain of a scope. */
export interface AuditEntry extends AuditRecord {
  /** 1, 2, 3, ... in each scope. */
  readonly seq: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly scope: string;
  /** The hash of the entry before; empty for the first. */
  readonly previous: string;
  /** SHA-256 over everything else, in hexadecimal. */
  readonly hash: string;
}

/** The entry with its hash. */
export function sealed(entry: Omit<AuditEntry, "hash">): AuditEntry {
  return { ...entry, hash: hashOf(entry) };
}

/** The fields in a fixed order, so that a storage may order them as it likes. */
export function hashOf({ seq, at, scope, user, action, session, verdict, detail = {}, id, previous }: Omit<AuditEntry, "hash">): string {
  const details = Object.entries(detail).sort(([a], [b]) => (a < b ? -1 : 1));
  const fields = [seq, at, scope, user, action, session ?? null, verdict ?? null, details, id ?? null, previous];
  return createHash("sha256").update(JSON.stringify(fields)).digest("hex");
}

/** The entry in a fact; `undefined`: it is none. */
export function entryOf(data: Json): AuditEntry | undefined {
  if (typeof data !== "object" || data === null || Array.isArray(data)) return undefined;
  const { seq, at, scope, user, action, previous, hash, session, verdict, id, detail } = data as JsonObject;
  const isText = (value: unknown): value is string => typeof value === "string";
  if (
    typeof seq !== "number" ||
    typeof at !== "number" ||
    !isText(scope) ||
    !isText(user) ||
    !isText(action) ||
    !isText(previous) ||
    !isText(hash)
  )
    return undefined;
  return {
    ...{ seq, at, scope, user, action, previous, hash },
    ...(isText(session) ? { session } : {}),
    ...(isText(verdict) ? { verdict } : {}),
    ...(isText(id) ? { id } : {}),
    ...(typeof detail === "object" && detail !== null ? { detail: detail as { readonly [name: string]: string } } : {}),
  };
}
