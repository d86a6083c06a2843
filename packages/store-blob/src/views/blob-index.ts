import { isAgentError } from "@loopwright/core";
import { isId, type SearchQuery, type SessionHit, type SessionIndex, type SessionSummary } from "@loopwright/core/ports";
import { excerptAround, matchTexts, searchWords, unlessAborted } from "@loopwright/core/stores";
import { inParallel } from "../in-parallel.ts";
import { listAll } from "../list-all.ts";
import type { OpenLogs } from "../log/open-logs.ts";
import { newestFirst } from "./session-places.ts";
import type { Page, SessionSummaries } from "./session-summaries.ts";
import type { SessionTexts } from "./session-texts.ts";

/** Most summaries or hits of one answer, unless asked for fewer. */
const pageMax = 100;
/** Sessions that a search looks at together. */
const stepMax = 100;

export interface BlobIndexDeps {
  readonly logs: OpenLogs;
  readonly summaries: SessionSummaries;
  /** A page of the summaries of a scope, the last changed session first, starting after a position. */
  readonly newest: (scope: string, page: Page) => Promise<readonly SessionSummary[]>;
  readonly texts: SessionTexts;
  /** How many sessions a search looks at. */
  readonly searchSessionsMax: number;
  /** How many characters of their texts. */
  readonly searchCharactersMax: number;
  /** Makes the summary of a session anew; true when it has facts. */
  readonly remake: (session: { readonly scope: string; readonly session: string }) => Promise<boolean>;
}

/** Lists by summaries, searches by reading logs, and keeps both in memory for the next time. */
export function blobIndex({ logs, summaries, newest, texts, searchSessionsMax, searchCharactersMax, remake }: BlobIndexDeps): SessionIndex {
  async function search(
    scope: string,
    sought: readonly string[],
    { signal, onUnsearched }: Pick<SearchQuery, "signal" | "onUnsearched">,
  ): Promise<readonly { readonly session: SessionSummary; readonly text: string; readonly score: number }[]> {
    const sessions = await newest(scope, { limit: searchSessionsMax, signal });
    const found: { readonly session: SessionSummary; readonly text: string; readonly score: number }[] = [];
    let characterCount = 0;
    let at = 0;
    for (; at < sessions.length && characterCount <= searchCharactersMax; at += stepMax) {
      const step = sessions.slice(at, at + stepMax);
      const own = await inParallel(step, (summary) => textsOf(scope, summary), signal);
      for (const [index, session] of step.entries()) {
        const looked = [...(own[index] ?? []), session.title ?? ""];
        characterCount += looked.reduce((sum, { length }) => sum + length, 0);
        const match = matchTexts(looked, sought);
        if (match) found.push({ session, ...match });
      }
    }
    // Whether there is one more was not asked.
    if (at < sessions.length || sessions.length >= searchSessionsMax) onUnsearched?.();
    return found;
  }

  async function textsOf(scope: string, { id, lastSeq }: SessionSummary): Promise<readonly string[]> {
    const ref = { scope, session: id };
    try {
      const kept = texts.kept(ref, lastSeq);
      if (kept) return kept;
      const log = logs.of(ref);
      return await log.hold(() => texts.of(log, lastSeq));
    } catch (error) {
      // A damaged log is reported to its readers; the others are searched.
      if (isAgentError(error, "SESSION_CORRUPT") || isAgentError(error, "STORE_TOO_NEW")) return [];
      throw error;
    }
  }

  return {
    list: (scope, { limit = pageMax, before, parent, signal } = {}) =>
      unlessAborted(signal, () =>
        newest(scope, { limit, before: before && { updatedAt: before.updatedAt, id: before.id }, parent, signal }),
      ),
    async get(scope, id) {
      const log = logs.of({ scope, session: id });
      return (await log.hold(() => summaries.fresh(log)))?.summary;
    },
    async search(scope, query, { limit = pageMax, signal, onUnsearched } = {}) {
      const sought = [...new Set(searchWords(query))];
      signal?.throwIfAborted();
      if (sought.length === 0) return [];
      const matches = await unlessAborted(signal, () =>
        search(scope, sought, { ...(signal ? { signal } : {}), ...(onUnsearched ? { onUnsearched } : {}) }),
      );
      const found = [...matches].sort((a, b) => b.score - a.score || newestFirst(a.session, b.session));
      return found.slice(0, limit).map(({ session, text }): SessionHit => ({ session, excerpt: excerptAround(text, sought) }));
    },
    async rebuild(scope) {
      const sessions = await sessionsOf(logs, scope);
      const made = await inParallel(sessions, (session) => remake({ scope, session }));
      return made.filter((has) => has).length;
    },
  };
}

/** The ids of all sessions that have a log, removed ones too. */
async function sessionsOf({ deps: { blobs } }: OpenLogs, scope: string): Promise<readonly string[]> {
  const prefix = `sessions/${scope}/`;
  const idOf = (key: string): string => key.slice(prefix.length).split("/", 1)[0] ?? "";
  if (blobs.exclusive) {
    const found = new Set<string>();
    for await (const { key } of listAll(blobs, prefix)) found.add(idOf(key));
    return [...found].filter(isId);
  }
  // One request for each: what belongs to it is passed over.
  const ids: string[] = [];
  for (let after: string | undefined; ; ) {
    const [next] = (await blobs.list(prefix, { limit: 1, ...(after === undefined ? {} : { after }) })).objects;
    if (!next) return ids;
    const id = idOf(next.key);
    ids.push(id);
    after = `${prefix}${id}/~`;
  }
}
