/*
 * Owns: how long the sessions of a scope are kept, as those that administer the scope have set it.
 * Does not own: the erasure, and legal holds, which it respects (host).
 */
import { AgentError, type JsonObject } from "@loopwright/core";
import type { RecordOwner, StoredRecord, UserRecords } from "../records/user-records.ts";

/** How long the sessions of a scope are kept, as `RetentionRule` of `@loopwright/host` has it. */
export interface ScopeRule {
  readonly scope: string;
  /** A session is erased that long after its last fact. */
  readonly keepMs: number;
}

/** What holds for a scope. Of two times the shorter one counts. */
export interface RetentionOfScope {
  /** Absent: the scope has set none. */
  readonly keepMs?: number;
  /** Set by the operator of the deployment. */
  readonly deploymentKeepMs?: number;
}

/** A change of the retention of a scope. */
export interface RetentionChange {
  readonly before: RetentionOfScope;
  readonly after: RetentionOfScope;
}

export interface ScopeRetentionOptions {
  readonly records: UserRecords;
  /** The rules of the operator. A scope can have its sessions erased sooner, not later. */
  readonly deployment?: readonly ScopeRule[];
}

export interface ScopeRetention {
  /** For `retention` of a server, a host and a worker. @throws AgentError STORE_* */
  rules(): Promise<readonly ScopeRule[]>;
  /** @throws AgentError STORE_* */
  of(scope: string): Promise<RetentionOfScope>;
  /** `null`: the sessions of the scope have their own retention alone. It counts from the next sweep, also for sessions that exist. @throws AgentError INPUT_INVALID, STORE_* */
  set(scope: string, keepMs: number | null): Promise<RetentionChange>;
}

export const retentionLimits: { readonly keepMinMs: number; readonly keepMaxMs: number } = {
  /** A minute. */
  keepMinMs: 60_000,
  /** A hundred years. */
  keepMaxMs: 3_153_600_000_000,
};

/** A sweep has to know every scope with a rule, so they stand together: scopes by a hash of their name in one of so many entries, each with room for some 400. */
const entriesMax = 40;
const owner: RecordOwner = { scope: "system", user: "retention" };
/** How often a change begins again because another one came first. */
const conflictsMax = 10;

/** Retention of scopes over the entries of a deployment, for several processes. */
export function scopeRetention({ records, deployment = [] }: ScopeRetentionOptions): ScopeRetention {
  const deploymentOf = (scope: string): number | undefined => deployment.find((rule) => rule.scope === scope)?.keepMs;
  const shown = (scope: string, keepMs: number | undefined): RetentionOfScope => {
    const deploymentKeepMs = deploymentOf(scope);
    return { ...(keepMs === undefined ? {} : { keepMs }), ...(deploymentKeepMs === undefined ? {} : { deploymentKeepMs }) };
  };
  return {
    async rules() {
      const own = (await records.list(owner, "retention")).flatMap(rulesOf);
      const merged = new Map(deployment.map(({ scope, keepMs }) => [scope, keepMs]));
      for (const { scope, keepMs } of own) merged.set(scope, Math.min(keepMs, merged.get(scope) ?? keepMs));
      return [...merged].map(([scope, keepMs]) => ({ scope, keepMs }));
    },
    async of(scope) {
      const entry = await records.get(owner, "retention", entryOf(scope));
      return shown(scope, entry && keepMsIn(entry, scope));
    },
    async set(scope, keepMs) {
      if (keepMs !== null) checkKeepMs(keepMs);
      const id = entryOf(scope);
      for (let conflicts = 0; conflicts < conflictsMax; conflicts++) {
        const entry = await records.get(owner, "retention", id);
        const { [scope]: _, ...others }: JsonObject = entry?.value ?? {};
        const value = keepMs === null ? others : { ...others, [scope]: keepMs };
        if (await records.put(owner, "retention", { id, value, expected: entry?.revision ?? null }))
          return { before: shown(scope, entry && keepMsIn(entry, scope)), after: shown(scope, keepMs ?? undefined) };
      }
      throw new AgentError("STORE_CONFLICT", { message: "Other requests changed retentions too often at once.", fix: "Try again." });
    },
  };
}

function checkKeepMs(keepMs: number): void {
  const { keepMinMs, keepMaxMs } = retentionLimits;
  if (Number.isSafeInteger(keepMs) && keepMs >= keepMinMs && keepMs <= keepMaxMs) return;
  throw new AgentError("INPUT_INVALID", {
    message: `\`keepMs\` is a whole number of milliseconds from ${keepMinMs} to ${keepMaxMs}.`,
    fix: "Send such a number, or `null` for no retention of the scope.",
    details: { field: "keepMs" },
  });
}

/** The rules of an entry; what this version does not understand is passed over. */
function rulesOf({ value }: StoredRecord): readonly ScopeRule[] {
  const { keepMinMs } = retentionLimits;
  return Object.entries(value).flatMap(([scope, keepMs]) =>
    typeof keepMs === "number" && Number.isSafeInteger(keepMs) && keepMs >= keepMinMs ? [{ scope, keepMs }] : [],
  );
}

const keepMsIn = (entry: StoredRecord, scope: string): number | undefined => rulesOf(entry).find((rule) => rule.scope === scope)?.keepMs;

function entryOf(scope: string): string {
  let hash = 0;
  for (const sign of scope) hash = (hash * 31 + (sign.codePointAt(0) ?? 0)) % 1_000_003;
  return `rules-${hash % entriesMax}`;
}
