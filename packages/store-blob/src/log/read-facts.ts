import { type Fact, isAgentError } from "@loopwright/core";
import { storeLimits } from "../store-limits.ts";
import { openSegment, type Segment, segmentKey } from "./checkpoint.ts";
import { markDamage } from "./damage-mark.ts";
import { factsOf, openEntry } from "./log-entry.ts";
import type { LogState, TailEntry } from "./log-state.ts";
import type { OpenLog } from "./open-log.ts";
import { damaged } from "./sealed-object.ts";

/** Facts by their seqs, both included. */
export interface FactRange {
  readonly from: number;
  readonly to: number;
}

interface Pieces {
  readonly segments: readonly Segment[];
  readonly tail: readonly TailEntry[];
}

/** The facts of a range, as JSON. What is compacted meanwhile is looked for anew. @throws AgentError SESSION_CORRUPT, STORE_* */
export async function readLines(log: OpenLog, asked: FactRange): Promise<readonly string[]> {
  for (let tries = 0; ; tries++) {
    const state = await log.run(() => (tries === 0 ? log.known() : log.reopen()));
    try {
      const found = await linesOf(log, piecesOf(state, asked), asked);
      if (found) return found;
      if (tries >= storeLimits.readTriesMax) throw damaged(log.keys.root);
    } catch (error) {
      // From now on no append goes behind the damage.
      if (isAgentError(error, "SESSION_CORRUPT")) {
        state.flaw = error;
        if (!state.isRemoved) await markDamage(log, error);
      }
      throw error;
    }
    await log.pause(tries);
  }
}

/** The facts from a seq on, at most as many as asked for. @throws AgentError SESSION_CORRUPT, STORE_* */
export async function readFacts(
  log: OpenLog,
  { from, limit, lastSeq }: { readonly from: number; readonly limit: number; readonly lastSeq: number },
): Promise<readonly Fact[]> {
  const to = Math.min(lastSeq, from + limit - 1);
  return to < from ? [] : factsOf(await readLines(log, { from, to }));
}

/** What has to be looked at, as the log is now. */
function piecesOf({ checkpoint, tail }: LogState, { from, to }: FactRange): Pieces {
  const holds = (piece: FactRange): boolean => piece.from <= to && piece.to >= from;
  return { segments: checkpoint.segments.filter(holds), tail: tail.filter((piece) => holds(piece) && piece.to >= piece.from) };
}

/** `undefined` when a piece is not there any more. */
async function linesOf(log: OpenLog, { segments, tail }: Pieces, { from, to }: FactRange): Promise<readonly string[] | undefined> {
  const lines: string[] = [];
  const take = (piece: FactRange, own: readonly string[]): void => {
    for (const line of own.slice(Math.max(0, from - piece.from), to - piece.from + 1)) lines.push(line);
  };
  for (const segment of segments) {
    const own = await segmentLines(log, segment);
    if (!own) return undefined;
    take(segment, own);
  }
  for (let at = 0; at < tail.length; at += storeLimits.parallelMax) {
    const some = tail.slice(at, at + storeLimits.parallelMax);
    const found = await Promise.all(some.map((piece) => entryLines(log, piece)));
    for (const [index, piece] of some.entries()) {
      const own = found[index];
      if (!own) return undefined;
      take(piece, own);
    }
  }
  return lines.length === to - from + 1 ? lines : undefined;
}

/** The facts of a segment as JSON; `undefined` when it was merged into another. @throws AgentError SESSION_CORRUPT */
async function segmentLines(log: OpenLog, segment: Segment): Promise<readonly string[] | undefined> {
  const key = segmentKey(log.keys.segments, segment);
  const kept = log.segments.get(key);
  if (kept) return kept;
  const object = await log.get(key);
  if (!object) return undefined;
  const lines = openSegment(object.bytes, segment, log.keys.segments);
  log.segments.keep(key, lines);
  return lines;
}

/** The facts of a slot as JSON; `undefined` when it was swept. @throws AgentError SESSION_CORRUPT */
async function entryLines(log: OpenLog, { slot, before, digest }: TailEntry): Promise<readonly string[] | undefined> {
  const key = log.keys.slot(slot);
  const object = await log.get(key);
  if (!object || object.bytes.length === 0) return undefined;
  const entry = openEntry(object.bytes, { key, before });
  // Its own seal only proves that it is whole: a changed entry can be sealed anew, but not with the digest that this process knows.
  if (entry.digest !== digest) throw damaged(key);
  return entry.lines;
}
