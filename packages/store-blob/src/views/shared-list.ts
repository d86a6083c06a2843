import { isId, type SessionSummary } from "@loopwright/core/ports";
import type { ConditionalBlobs } from "../conditional-blobs.ts";
import { inParallel } from "../in-parallel.ts";
import { type FoundMark, listMarks } from "./list-marks.ts";
import { newestFirst } from "./session-places.ts";
import type { Page, SessionSummaries } from "./session-summaries.ts";

/** More marks than a page needs, because some may be left over. */
const spareMarks = 20;

export interface SharedListDeps {
  readonly blobs: ConditionalBlobs;
  readonly summaries: SessionSummaries;
}

/** A page of the summaries of a scope where many processes may write: it reads the marks of the page, and those of sessions being written. */
export async function sharedList(
  { blobs, summaries }: SharedListDeps,
  scope: string,
  { limit, before, parent, signal }: Page,
): Promise<readonly SessionSummary[]> {
  const found = new Map<string, SessionSummary>();
  const add = (summary: SessionSummary | undefined): void => {
    if (summary && summary.parent === parent && (!before || newestFirst(before, summary) < 0)) found.set(summary.id, summary);
  };
  // First these: a session that comes to rest afterwards has its new mark among the resting ones.
  const writing = await listMarks.writing(blobs, scope, signal);
  const addWriting = async ([session, marks]: readonly [string, readonly string[]]): Promise<void> => {
    const { summary, isSettled, isRemoved } = await summaries.lookUp({ scope, session });
    add(summary);
    if (isSettled || isRemoved) for (const key of marks) await removeMark(blobs, key);
  };
  const addResting = async (mark: FoundMark): Promise<void> => {
    const { summary, restingMark, isSettled, isRemoved } = await summaries.lookUp({ scope, session: mark.id }, mark.nonce);
    add(summary);
    if (isRemoved || (isSettled && restingMark !== mark.key)) await removeMark(blobs, mark.key);
  };
  await inParallel([...writing], addWriting, signal);
  for await (const marks of listMarks.resting(blobs, { scope, parent }, { limit: limit + spareMarks, from: before?.updatedAt, signal })) {
    const rest = marks.filter(({ id }) => isId(id) && !writing.has(id));
    await inParallel(rest, addResting, signal);
    const last = marks.at(-1);
    if (last && countAfter(found, last.updatedAt) >= limit) break;
  }
  return [...found.values()].sort(newestFirst).slice(0, limit);
}

/** How many were changed after a moment. Those of the moment itself may have further marks. */
function countAfter(found: ReadonlyMap<string, SessionSummary>, moment: number): number {
  return [...found.values()].filter(({ updatedAt }) => updatedAt > moment).length;
}

/** Removes a mark that is left over. One that stays is removed by the next list. */
function removeMark(blobs: ConditionalBlobs, key: string): Promise<void> {
  return blobs.remove(key).catch(() => undefined);
}
