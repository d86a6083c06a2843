/*
 * Owns: the end of the chain of one scope, as this process knows it, and what it appends there.
 * Does not own: which segments are removed, and when (audit-log).
 * Invariant: an entry is appended by compare-and-append after the entry that its hash names, on whichever node.
 */
import { AgentError, factVersion } from "@loopwright/core";
import { randomIds } from "@loopwright/core/memory";
import type { AppendOutcome, Clock, SessionLog } from "@loopwright/core/ports";
import { type AuditEntry, type AuditRecord, sealed } from "./audit-entry.ts";
import { closedAction, entryIn, entryKind, segmentRef, segmentsOf } from "./audit-segments.ts";

const knownMax = 1_000;
const attemptsMax = 20;
const pageSize = 500;

export interface ChainPlace {
  readonly log: SessionLog;
  readonly clock: Clock;
  readonly scope: string;
}

export class AuditChain {
  readonly #place: ChainPlace;
  /** False until the end of the chain has been read. */
  #isRead = false;
  #segment = 1;
  /** Entries of the segment. */
  #length = 0;
  #isClosed = false;
  #seq = 0;
  #hash = "";
  /** Entries by their id, the last ones. */
  readonly #known = new Map<string, AuditEntry>();

  constructor(place: ChainPlace) {
    this.#place = place;
  }

  /** Entries of the segment that is open. */
  get length(): number {
    return this.#isClosed ? 0 : this.#length;
  }

  /** The number of the segment of the last entry. */
  get segment(): number {
    return this.#segment;
  }

  /** Appends an entry, unless one with its id is known. @throws AgentError STORE_* */
  async write(record: AuditRecord): Promise<AuditEntry> {
    const { clock, scope } = this.#place;
    if (!this.#isRead) await this.#catchUp();
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      const known = record.id === undefined ? undefined : this.#known.get(record.id);
      if (known) return known;
      const entry = sealed({ ...record, seq: this.#seq + 1, at: clock.now(), scope, previous: this.#hash });
      const [segment, expectedSeq] = this.#isClosed ? [this.#segment + 1, 0] : [this.#segment, this.#length];
      const { type } = await this.#append(entry, { segment, expectedSeq });
      if (type === "ok" || type === "dup") {
        this.#segment = segment;
        this.#absorb(entry, expectedSeq + 1);
        return entry;
      }
      if (type !== "conflict") throw unwritten(scope, type);
      await this.#catchUp();
    }
    throw unwritten(scope, "conflict");
  }

  /** Reads what was appended behind the end that is known, by any node. */
  async #catchUp(): Promise<void> {
    const { log, scope } = this.#place;
    if (!this.#isRead) await this.#findEnd();
    for (;;) {
      const facts = await log.read(segmentRef(scope, this.#segment), { from: this.#length + 1, limit: pageSize });
      for (const fact of facts) {
        const entry = entryIn(fact);
        if (entry) this.#absorb(entry, fact.seq);
      }
      if (facts.length === pageSize) continue;
      if (!this.#isClosed || (await log.head(segmentRef(scope, this.#segment + 1))).lastSeq === 0) break;
      this.#segment += 1;
      this.#length = 0;
      this.#isClosed = false;
    }
    this.#isRead = true;
  }

  /** Stands so far before the end that the last ids will be known, which may be in the segment before. */
  async #findEnd(): Promise<void> {
    const { log, scope } = this.#place;
    const segments = (await segmentsOf(log, scope)).slice(-2);
    for (const { number, firstSeq } of segments.toReversed()) {
      const { lastSeq } = await log.head(segmentRef(scope, number));
      this.#segment = number;
      this.#length = Math.max(0, lastSeq - knownMax);
      this.#seq = firstSeq + this.#length - 1;
      if (lastSeq >= knownMax) return;
    }
  }

  #absorb(entry: AuditEntry, length: number): void {
    this.#length = length;
    this.#isClosed = entry.action === closedAction;
    this.#seq = entry.seq;
    this.#hash = entry.hash;
    if (entry.id === undefined) return;
    this.#known.set(entry.id, entry);
    const [oldest] = this.#known.keys();
    if (this.#known.size > knownMax && oldest !== undefined) this.#known.delete(oldest);
  }

  /** Sends the same batch again where it is not known whether it was written. */
  async #append(
    entry: AuditEntry,
    { segment, expectedSeq }: { readonly segment: number; readonly expectedSeq: number },
  ): Promise<AppendOutcome> {
    const { log, scope } = this.#place;
    const data = JSON.parse(JSON.stringify(entry));
    const facts = [{ type: "note.recorded", kind: entryKind, data, at: entry.at, v: factVersion }] as const;
    const request = { expectedSeq, batchId: randomIds.next(), facts, due: null };
    let outcome = await log.append(segmentRef(scope, segment), request);
    for (let again = 0; outcome.type === "unknown" && again < 3; again++) outcome = await log.append(segmentRef(scope, segment), request);
    return outcome;
  }
}

const unwritten = (scope: string, why: string): AgentError =>
  new AgentError(why === "full" ? "STORE_FULL" : "STORE_UNAVAILABLE", {
    message: `The audit log of the scope \`${scope}\` could not be written: ${why}.`,
  });
