import { AgentError, type Fact, isAgentError } from "@loopwright/core";
import { entryOf, hashOf } from "./audit-entry.ts";

/** How a chain stands. */
export type AuditVerdict =
  /** `head`: note it elsewhere, and give it to the next look. */
  | { readonly intact: true; readonly entries: number; readonly head: string }
  /** `seq`: the first entry that is wrong, or missing. */
  | { readonly intact: false; readonly seq: number; readonly reason: string };

export interface ChainSource {
  readonly scope: string;
  readonly head: string | undefined;
  readonly kind: string;
  /** At most `limit` facts from a number on; none at the end. */
  read(from: number, limit: number): Promise<readonly Fact[]>;
}

const pageSize = 500;

/** Reads a chain from its first entry to its last. */
export async function verifyChain({ scope, head, kind, read }: ChainSource): Promise<AuditVerdict> {
  const noted = head === undefined ? undefined : notedHead(head);
  let [seq, previous, headHash] = [0, "", ""];
  for (;;) {
    let facts: readonly Fact[];
    try {
      facts = await read(seq + 1, pageSize);
    } catch (error) {
      // The store itself has found that a fact was changed.
      if (!isAgentError(error, "SESSION_CORRUPT")) throw error;
      const bad = await firstUnreadable(seq + 1, read);
      return { intact: false, seq: bad, reason: "the store cannot read it: it was damaged or changed" };
    }
    if (facts.length === 0) break;
    for (const fact of facts) {
      const next = seq + 1;
      const flaw = flawOf(fact, { next, previous, scope, kind });
      if (flaw) return { intact: false, seq: next, reason: flaw };
      const entry = fact.type === "note.recorded" ? entryOf(fact.data) : undefined;
      seq = next;
      previous = entry?.hash ?? "";
      if (noted?.seq === seq) headHash = previous;
    }
  }
  if (noted && noted.seq > seq)
    return { intact: false, seq: seq + 1, reason: `the entries up to ${noted.seq}, which were noted before, are missing` };
  if (noted && headHash !== noted.hash) return { intact: false, seq: noted.seq, reason: "it is not the entry that was noted before" };
  return { intact: true, entries: seq, head: `${seq}:${previous}` };
}

interface Expected {
  readonly next: number;
  readonly previous: string;
  readonly scope: string;
  readonly kind: string;
}

function flawOf(fact: Fact, { next, previous, scope, kind }: Expected): string | undefined {
  const entry = fact.type === "note.recorded" && fact.kind === kind ? entryOf(fact.data) : undefined;
  if (!entry) return "it is no entry of an audit log";
  if (entry.seq !== next || fact.seq !== next)
    return `in its place is the entry ${entry.seq}: entries were removed, added or put in another order`;
  if (entry.scope !== scope) return `it belongs to the scope \`${entry.scope}\``;
  if (entry.hash !== hashOf(entry)) return "it was changed";
  return entry.previous === previous ? undefined : "it does not continue the entry before it";
}

/** The store refuses a page: the entry of it that it refuses by itself. */
async function firstUnreadable(from: number, read: ChainSource["read"]): Promise<number> {
  for (let seq = from; seq < from + pageSize; seq++) {
    try {
      await read(seq, 1);
    } catch (error) {
      if (isAgentError(error, "SESSION_CORRUPT")) return seq;
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
