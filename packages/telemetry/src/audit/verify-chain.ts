import { AgentError, type Fact, isAgentError } from "@loopwright/core";
import { type AuditEntry, hashOf } from "./audit-entry.ts";
import { type AuditSegment, entryIn, removedAction } from "./audit-segments.ts";

/** How a chain stands. */
export type AuditVerdict =
  /** `head`: note it elsewhere, and give it to the next look. `from`: the first entry that is kept, where an entry reports that those before were removed. */
  | { readonly intact: true; readonly entries: number; readonly head: string; readonly from?: number }
  /** `seq`: the first entry that is wrong, or missing. */
  | { readonly intact: false; readonly seq: number; readonly reason: string };

export interface ChainSource {
  readonly scope: string;
  readonly head: string | undefined;
  /** Those that are kept, the oldest first. */
  readonly segments: readonly AuditSegment[];
  /** At most `limit` facts of a segment, from a place in it on; none at its end. */
  read(segment: number, page: { readonly from: number; readonly limit: number }): Promise<readonly Fact[]>;
}

const pageSize = 500;

/** What was found so far. */
interface Walk {
  seq: number;
  previous: string;
  /** The entry before the first one that is kept; `undefined` until that one is read. */
  start: { readonly seq: number; readonly hash: string } | undefined;
  /** An entry of the chain reports that what came before the start was removed. */
  isStartReported: boolean;
  headHash: string;
}

type Flaw = Extract<AuditVerdict, { readonly intact: false }>;

/** Reads a chain from its first entry that is kept to its last, over all segments. */
export async function verifyChain(source: ChainSource): Promise<AuditVerdict> {
  const noted = source.head === undefined ? undefined : notedHead(source.head);
  const walk: Walk = { seq: 0, previous: "", start: undefined, isStartReported: false, headHash: "" };
  for (const { number } of source.segments) {
    const flaw = await walkSegment(source, number, { walk, notedSeq: noted?.seq });
    if (flaw) return flaw;
  }
  const { seq, previous, start = { seq: 0, hash: "" } } = walk;
  if (start.seq > 0 && !walk.isStartReported)
    return { intact: false, seq: 1, reason: `the entries up to ${start.seq} are missing, and no entry reports that they were removed` };
  if (noted && noted.seq > seq)
    return { intact: false, seq: seq + 1, reason: `the entries up to ${noted.seq}, which were noted before, are missing` };
  const headHash = noted?.seq === start.seq ? start.hash : walk.headHash;
  if (noted && noted.seq >= start.seq && headHash !== noted.hash)
    return { intact: false, seq: noted.seq, reason: "it is not the entry that was noted before" };
  const from = start.seq > 0 ? { from: start.seq + 1 } : {};
  return { intact: true, entries: seq - start.seq, head: `${seq}:${previous}`, ...from };
}

async function walkSegment(
  { scope, read }: ChainSource,
  segment: number,
  { walk, notedSeq }: { readonly walk: Walk; readonly notedSeq: number | undefined },
): Promise<Flaw | undefined> {
  for (let place = 0; ; ) {
    let facts: readonly Fact[];
    try {
      facts = await read(segment, { from: place + 1, limit: pageSize });
    } catch (error) {
      // The store itself has found that a fact was changed.
      if (!isAgentError(error, "SESSION_CORRUPT")) throw error;
      const bad = await firstUnreadable(place + 1, (from) => read(segment, { from, limit: 1 }));
      return { intact: false, seq: walk.seq + bad - place, reason: "the store cannot read it: it was damaged or changed" };
    }
    if (facts.length === 0) return undefined;
    for (const fact of facts) {
      place += 1;
      const entry = entryIn(fact);
      if (entry && !walk.start) begin(walk, entry, segment);
      const next = walk.seq + 1;
      const reason = flawOf({ fact, entry }, { next, place, previous: walk.previous, scope });
      if (reason) return { intact: false, seq: next, reason };
      if (entry) take(walk, entry, notedSeq);
    }
  }
}

/** The first segment of a chain begins with nothing before it; a later one names what was before, which an entry must confirm. */
function begin(walk: Walk, entry: AuditEntry, segment: number): void {
  walk.start = segment === 1 ? { seq: 0, hash: "" } : { seq: entry.seq - 1, hash: entry.previous };
  walk.seq = walk.start.seq;
  walk.previous = walk.start.hash;
}

function take(walk: Walk, entry: AuditEntry, notedSeq: number | undefined): void {
  const { start } = walk;
  walk.seq = entry.seq;
  walk.previous = entry.hash;
  if (notedSeq === entry.seq) walk.headHash = entry.hash;
  const { through, hash } = entry.action === removedAction ? (entry.detail ?? {}) : {};
  if (start && through === String(start.seq) && hash === start.hash) walk.isStartReported = true;
}

interface Expected {
  readonly next: number;
  /** In its segment. */
  readonly place: number;
  readonly previous: string;
  readonly scope: string;
}

function flawOf(
  { fact, entry }: { readonly fact: Fact; readonly entry: AuditEntry | undefined },
  { next, place, previous, scope }: Expected,
): string | undefined {
  if (!entry) return "it is no entry of an audit log";
  if (entry.seq !== next || fact.seq !== place)
    return `in its place is the entry ${entry.seq}: entries were removed, added or put in another order`;
  if (entry.scope !== scope) return `it belongs to the scope \`${entry.scope}\``;
  if (entry.hash !== hashOf(entry)) return "it was changed";
  return entry.previous === previous ? undefined : "it does not continue the entry before it";
}

/** The store refuses a page: the place of the fact that it refuses by itself. */
async function firstUnreadable(from: number, read: (place: number) => Promise<unknown>): Promise<number> {
  for (let place = from; place < from + pageSize; place++) {
    try {
      await read(place);
    } catch (error) {
      if (isAgentError(error, "SESSION_CORRUPT")) return place;
      throw error;
    }
  }
  return from;
}

function notedHead(text: string): { readonly seq: number; readonly hash: string } {
  const [, seq, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (seq === undefined || hash === undefined)
    throw new AgentError("INPUT_INVALID", {
      message: "The noted head of the chain cannot be read.",
      fix: "Give it as it was printed: `<number>:<hash>`.",
    });
  return { seq: Number(seq), hash };
}
