/*
 * Owns: the segments of a chain: their names in the store, which there are, which one is open, and which were removed.
 * Does not own: entries (audit-entry), what a chain promises (verify-chain).
 * Invariants
 *  G1 a segment whose last entry closes it gets no other: each writer has read it, since it appends by compare-and-append;
 *  G2 the directory may lack what happened last, never name what did not happen.
 */
import { createHash } from "node:crypto";
import { type Fact, factVersion, type JsonObject } from "@loopwright/core";
import { randomIds } from "@loopwright/core/memory";
import type { SessionLog, SessionRef } from "@loopwright/core/ports";
import { type AuditEntry, entryOf } from "./audit-entry.ts";

/** The scope whose sessions are the segments of all chains. No user may belong to it. */
export const auditScope = "loopwright-audit";
export const entryKind = "audit.entry";
const directoryKind = "audit.segment";

/** The action of the entry that closes a segment, and of the one that reports the removal of earlier entries. */
export const closedAction = "audit.segment-closed";
export const removedAction = "audit.entries-removed";

/** One segment of a chain. */
export interface AuditSegment {
  /** Counted from 1. */
  readonly number: number;
  /** The seq of its first entry in the chain. */
  readonly firstSeq: number;
}

/** The session of a segment. 0: the directory. Its name holds a digest, since a scope may have any name that a segment could have. */
export function segmentRef(scope: string, number: number): SessionRef {
  return { scope: auditScope, session: `${number}-${createHash("sha256").update(scope).digest("hex").slice(0, 40)}` };
}

/** The entries of a segment from a place in it on. Facts that are no entries are left out. */
export async function segmentEntries(
  log: SessionLog,
  { scope, number }: { readonly scope: string; readonly number: number },
  page: { readonly from: number; readonly limit: number },
): Promise<readonly AuditEntry[]> {
  return (await log.read(segmentRef(scope, number), page)).flatMap((fact) => entryIn(fact) ?? []);
}

export const entryIn = (fact: Fact): AuditEntry | undefined =>
  fact.type === "note.recorded" && fact.kind === entryKind ? entryOf(fact.data) : undefined;

/** The segments that are there, the oldest first; at least one, which may be empty. */
export async function segmentsOf(log: SessionLog, scope: string): Promise<readonly AuditSegment[]> {
  const notes = (await log.read(segmentRef(scope, 0))).flatMap(noteIn);
  const removed = Math.max(0, ...notes.map(({ removed: number = 0 }) => number));
  const opened = notes.flatMap(({ opened: number, firstSeq }) => (number && firstSeq && number > removed ? [{ number, firstSeq }] : []));
  const known = new Map(opened.map((segment) => [segment.number, segment]));
  if (removed === 0) known.set(1, { number: 1, firstSeq: 1 });
  const last = Math.max(removed, ...known.keys());
  const segments: AuditSegment[] = [];
  for (let number = removed + 1; ; number++) {
    const segment = known.get(number) ?? (await unnoted(log, scope, number));
    if (segment) segments.push(segment);
    else if (number > last) break;
  }
  if (segments.length === 0) return [{ number: removed + 1, firstSeq: 1 }];
  // Removed, and not noted yet.
  while (segments.length > 1 && (await log.head(segmentRef(scope, segments[0]?.number ?? 0))).lastSeq === 0) segments.shift();
  return segments;
}

/** A process may have ended between the first entry of a segment and its note. */
async function unnoted(log: SessionLog, scope: string, number: number): Promise<AuditSegment | undefined> {
  const [first] = await segmentEntries(log, { scope, number }, { from: 1, limit: 1 });
  return first && { number, firstSeq: first.seq };
}

/** Notes in the directory that a segment was opened, or that all up to one were removed. It is a help for readers: what fails is left out. */
export async function noteSegment(log: SessionLog, scope: string, note: SegmentNote): Promise<void> {
  const ref = segmentRef(scope, 0);
  const facts = [{ type: "note.recorded", kind: directoryKind, data: { ...note }, at: 0, v: factVersion }] as const;
  const batchId = randomIds.next();
  for (let attempt = 0; attempt < 5; attempt++) {
    const { lastSeq } = await log.head(ref);
    const { type } = await log.append(ref, { expectedSeq: lastSeq, batchId, facts, due: null });
    if (type !== "conflict" && type !== "unknown") return;
  }
}

export interface SegmentNote {
  readonly opened?: number;
  readonly firstSeq?: number;
  readonly removed?: number;
}

function noteIn(fact: Fact): readonly SegmentNote[] {
  if (fact.type !== "note.recorded" || fact.kind !== directoryKind) return [];
  const { opened, firstSeq, removed } = fact.data as JsonObject;
  const number = (value: unknown): number | undefined => (typeof value === "number" && Number.isSafeInteger(value) ? value : undefined);
  const [first, second, third] = [number(opened), number(firstSeq), number(removed)];
  return [
    {
      ...(first === undefined ? {} : { opened: first }),
      ...(second === undefined ? {} : { firstSeq: second }),
      ...(third === undefined ? {} : { removed: third }),
    },
  ];
}
