/*
 * Where many processes may write, no process knows the order of all sessions, and asking for the summaries' names costs a request per 1,000 sessions.
 * Two kinds of empty objects give a page instead. A resting mark has the date of the last change in its name, so that the place itself sorts the marks.
 * A writing mark names a session whose summary may be older than its log.
 *
 * Order of writes, so that each session has a mark after a crash at any point: the unsettled summary, the writing mark, the facts; at rest the new resting
 * mark, then the old one goes, then the settled summary is written, then the writing mark goes. A settled summary names its resting mark: every
 * other resting mark, and every writing mark that was listed before that summary was read, is left over and removed.
 */
import type { ConditionalBlobs } from "../conditional-blobs.ts";
import { listAll } from "../list-all.ts";
import type { OpenLog } from "../log/open-log.ts";
import { putMark } from "../log/put-mark.ts";
import {
  type Family,
  type RestingMark,
  restingMarkKey,
  restingMarkOf,
  restingMarksFrom,
  restingMarksOf,
  sessionOfWritingMark,
  writingMarkKey,
  writingMarksOf,
  writingMarksOfSession,
} from "../object-keys.ts";

export interface FoundMark extends RestingMark {
  readonly key: string;
}

/** The marks by which sessions are listed where many processes may write. */
export const listMarks = {
  /** To be awaited before facts are written. */
  begin: (log: OpenLog, nonce: string): Promise<void> => putMark(log, writingMarkKey(log.ref, nonce)),

  /** To be awaited before the summary is settled. Returns the key of the mark. */
  async rest(log: OpenLog, mark: RestingMark, before: string | undefined): Promise<string> {
    const key = restingMarkKey(log.ref.scope, mark);
    await putMark(log, key);
    if (before !== undefined && before !== key) await log.deps.blobs.remove(before);
    return key;
  },

  /** After the summary of this writer was settled. One that stays is removed by a list. */
  end: (log: OpenLog, nonce: string): Promise<void> => log.deps.blobs.remove(writingMarkKey(log.ref, nonce)).catch(() => undefined),

  /** Removes all marks of a session that is removed. */
  async remove({ deps: { blobs }, ref }: OpenLog, resting: string | undefined): Promise<void> {
    if (resting !== undefined) await blobs.remove(resting);
    for await (const { key } of listAll(blobs, writingMarksOfSession(ref))) await blobs.remove(key);
  },

  /** The sessions that may be being written, each with its marks: those that are, and those whose writer has died. */
  async writing(blobs: ConditionalBlobs, scope: string, signal?: AbortSignal): Promise<ReadonlyMap<string, readonly string[]>> {
    const found = new Map<string, string[]>();
    for await (const { key } of listAll(blobs, writingMarksOf(scope))) {
      signal?.throwIfAborted();
      const session = sessionOfWritingMark(scope, key);
      if (session !== undefined) found.set(session, [...(found.get(session) ?? []), key]);
    }
    return found;
  },

  /** Pages of resting marks, the last change first, from a moment on. */
  async *resting(
    blobs: ConditionalBlobs,
    family: Family,
    { limit, from, signal }: { readonly limit: number; readonly from?: number | undefined; readonly signal?: AbortSignal | undefined },
  ): AsyncGenerator<readonly FoundMark[], void> {
    for (let after = from === undefined ? undefined : restingMarksFrom(family, from); ; ) {
      const page = await blobs.list(restingMarksOf(family.scope, family.parent), { limit, ...(after === undefined ? {} : { after }) });
      signal?.throwIfAborted();
      yield page.objects.flatMap(({ key }) => {
        const mark = restingMarkOf(family, key);
        return mark ? { ...mark, key } : [];
      });
      after = page.objects.at(-1)?.key;
      if (!page.hasMore || after === undefined) return;
    }
  },
};
