/*
 * Owns: one hash chain of entries for each scope, in the log of a store.
 * Does not own: what is recorded (audit-observer), how a store appends.
 * Invariants
 *  D1 an entry is appended by compare-and-append after the entry that its hash names, on whichever node;
 *  D2 an entry that was handed over is written, or the logger gets an error;
 *  D3 the chain is in a scope of its own: erasing sessions, or a scope, does not touch it.
 */
import { AgentError, factVersion, isAgentError } from "@loopwright/core";
import { randomIds, silentLogger, systemClock } from "@loopwright/core/memory";
import { type AppendOutcome, type Clock, isId, type Logger, type SessionLog, type SessionRef } from "@loopwright/core/ports";
import { type AuditEntry, type AuditRecord, entryOf, sealed } from "./audit-entry.ts";
import { type AuditVerdict, verifyChain } from "./verify-chain.ts";

export interface AuditLogOptions {
  /** The log of the store that all nodes share. */
  readonly log: SessionLog;
  readonly clock?: Clock;
  readonly logger?: Logger;
}

export interface AuditLog {
  /** Appends an entry; resolves when it is durable. @throws AgentError STORE_*, INPUT_INVALID for a scope that is none */
  record(scope: string, record: AuditRecord): Promise<AuditEntry>;
  /** The entries from `from` (default 1) on, at most `limit` (default 1,000). @throws AgentError STORE_* */
  list(scope: string, options?: { readonly from?: number; readonly limit?: number }): Promise<readonly AuditEntry[]>;
  /**
   * Looks through the whole chain. `head`: an entry that was noted before, as `<seq>:<hash>`: without it, entries that were cut off at the end are
   * not missed. @throws AgentError STORE_* where nothing can be read, INPUT_INVALID
   */
  verify(scope: string, options?: { readonly head?: string }): Promise<AuditVerdict>;
  /** Resolves when everything that was handed over is written. */
  settled(): Promise<void>;
}

/** The scope whose sessions are the chains of all others. No user may belong to it. */
export const auditScope = "loopwright-audit";
const kind = "audit.entry";
const knownMax = 1_000;
const attemptsMax = 20;
const pageSize = 500;

interface Chain {
  /** False until the end of the chain has been read. */
  isRead: boolean;
  seq: number;
  hash: string;
  /** Entries by their id, the last ones. */
  readonly known: Map<string, AuditEntry>;
  /** The writes of this process, one after the other. */
  writing: Promise<unknown>;
}

export function auditLog({ log, clock = systemClock, logger = silentLogger }: AuditLogOptions): AuditLog {
  const chains = new Map<string, Chain>();

  const page = async (scope: string, from: number, limit: number): Promise<readonly AuditEntry[]> => {
    const facts = await log.read(refOf(scope), { from, limit });
    return facts.flatMap((fact) => (fact.type === "note.recorded" && fact.kind === kind ? (entryOf(fact.data) ?? []) : []));
  };
  /** Reads what was appended behind the chain's end, by any node. */
  const catchUp = async (scope: string, chain: Chain): Promise<void> => {
    if (!chain.isRead) chain.seq = Math.max(0, (await log.head(refOf(scope))).lastSeq - knownMax);
    for (;;) {
      const entries = await page(scope, chain.seq + 1, pageSize);
      for (const entry of entries) {
        chain.seq = entry.seq;
        chain.hash = entry.hash;
        remember(chain, entry);
      }
      chain.isRead = true;
      if (entries.length < pageSize) return;
    }
  };
  const write = async (scope: string, chain: Chain, record: AuditRecord): Promise<AuditEntry> => {
    if (!chain.isRead) await catchUp(scope, chain);
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      const known = record.id === undefined ? undefined : chain.known.get(record.id);
      if (known) return known;
      const entry = sealed({ ...record, seq: chain.seq + 1, at: clock.now(), scope, previous: chain.hash });
      const outcome = await appended(log, entry);
      if (outcome.type === "ok" || outcome.type === "dup") {
        chain.seq = entry.seq;
        chain.hash = entry.hash;
        remember(chain, entry);
        return entry;
      }
      if (outcome.type !== "conflict") throw unwritten(scope, outcome.type);
      await catchUp(scope, chain);
    }
    throw unwritten(scope, "conflict");
  };

  return {
    record(scope, record) {
      if (!isId(scope)) return Promise.reject(noScope(scope));
      const chain = chains.get(scope) ?? { isRead: false, seq: 0, hash: "", known: new Map(), writing: Promise.resolve() };
      chains.set(scope, chain);
      const written = chain.writing.then(() => write(scope, chain, record));
      chain.writing = written.catch((error: unknown) => {
        const { action, session } = record;
        logger.log("error", "An entry of the audit log could not be written.", {
          scope,
          action,
          session,
          cause: isAgentError(error) ? error.code : "unknown",
        });
      });
      return written;
    },
    async list(scope, { from = 1, limit = 1_000 } = {}) {
      if (!isId(scope)) throw noScope(scope);
      return page(scope, Math.max(1, from), limit);
    },
    async verify(scope, { head } = {}) {
      if (!isId(scope)) throw noScope(scope);
      return verifyChain({ scope, head, read: (from, limit) => log.read(refOf(scope), { from, limit }), kind });
    },
    async settled() {
      for (const { writing } of chains.values()) await writing;
    },
  };
}

/** Sends the same batch again where it is not known whether it was written. */
async function appended(log: SessionLog, entry: AuditEntry): Promise<AppendOutcome> {
  const data = JSON.parse(JSON.stringify(entry));
  const facts = [{ type: "note.recorded", kind, data, at: entry.at, v: factVersion }] as const;
  const request = { expectedSeq: entry.seq - 1, batchId: randomIds.next(), facts, due: null };
  let outcome = await log.append(refOf(entry.scope), request);
  for (let again = 0; outcome.type === "unknown" && again < 3; again++) outcome = await log.append(refOf(entry.scope), request);
  return outcome;
}

function remember({ known }: Chain, entry: AuditEntry): void {
  if (entry.id === undefined) return;
  known.set(entry.id, entry);
  const [oldest] = known.keys();
  if (known.size > knownMax && oldest !== undefined) known.delete(oldest);
}

const refOf = (scope: string): SessionRef => ({ scope: auditScope, session: scope });

const noScope = (scope: string): AgentError =>
  new AgentError("INPUT_INVALID", { message: `\`${scope.slice(0, 80)}\` is no scope.`, fix: "Name one as its sessions have it." });

const unwritten = (scope: string, why: string): AgentError =>
  new AgentError(why === "full" ? "STORE_FULL" : "STORE_UNAVAILABLE", {
    message: `The audit log of the scope \`${scope}\` could not be written: ${why}.`,
  });
