import { isAgentError } from "@loopwright/core";
import type { SearchQuery, SessionHit, SessionIndex, SessionRef, SessionSummary } from "@loopwright/core/ports";
import { checkedRef, excerptAround, matchTexts, searchWords, unlessAborted } from "@loopwright/core/stores";
import type { Connection } from "../connection/connection.ts";
import { listOf, textOf } from "../connection/reply.ts";
import { answerOf } from "../connection/script.ts";
import type { StoreKeys } from "../keys.ts";
import { newestEndsScript } from "./index-scripts.ts";
import type { SearchedSession, SearchedTexts } from "./searched-texts.ts";
import type { SessionViews } from "./session-views.ts";

/** Most summaries or hits of one answer, unless asked for fewer. */
const indexPageMax = 100;
/** Sessions that are looked at together. */
const stepMax = 100;
/** Sessions that a search looks at, the newest, unless the store was given another number. */
export const searchedSessionsMax = 2_000;
/** Characters of their texts that it looks at, about, unless the store was given another number. */
export const searchedCharactersMax = 16_000_000;
/** Sessions whose ends a search asks for together: one script, during which Redis serves no one else. */
const endsMax = 500;

export interface IndexParts {
  readonly connection: Connection;
  readonly keys: StoreKeys;
  readonly views: SessionViews;
  readonly texts: SearchedTexts;
  readonly searchSessionsMax: number;
  readonly searchCharactersMax: number;
}

type Place = Pick<SessionSummary, "updatedAt" | "id">;

/** Lists and searches by the times that appends leave behind, and by projections that are folded on request. */
export function redisIndex(parts: IndexParts): SessionIndex {
  const { connection, keys, views } = parts;
  return {
    async list(scope, options) {
      const { limit = indexPageMax, before, parent, signal } = options ?? {};
      const found: SessionSummary[] = [];
      const wanted = { before, parent, signal, step: () => Math.min(stepMax, limit - found.length + (before ? 1 : 0)) };
      for await (const summaries of newestFirst(parts, scope, wanted)) {
        found.push(...summaries);
        if (found.length >= limit) break;
      }
      return found.slice(0, limit);
    },
    async get(scope, id) {
      const ref = refOf(scope, id);
      return ref && views.summaryOf(ref);
    },
    async search(scope, query, options) {
      const sought = [...new Set(searchWords(query))];
      if (sought.length === 0) return [];
      const { limit = indexPageMax, signal, onUnsearched } = options ?? {};
      const found: { readonly session: SessionSummary; readonly text: string; readonly score: number }[] = [];
      for await (const { summary, texts } of newestTexts(parts, scope, { signal, onUnsearched })) {
        const match = summary && matchTexts([...texts, summary.title ?? ""], sought);
        if (match) found.push({ session: summary, ...match });
      }
      return found
        .sort((a, b) => b.score - a.score || order(a.session, b.session))
        .slice(0, limit)
        .map(({ session, text }): SessionHit => ({ session, excerpt: excerptAround(text, sought) }));
    },
    async rebuild(scope) {
      let count = 0;
      const families: (string | undefined)[] = [undefined];
      for (const parent of families) {
        const family = familyOf(keys, scope, parent);
        for (const id of listOf(await connection.answer(["ZRANGE", family, "0", "-1"])).flatMap((text) => textOf(text) ?? [])) {
          families.push(id);
          await views.forget({ scope, session: id });
          parts.texts.forget({ scope, session: id });
          const summary = await views.summaryOf({ scope, session: id }, parent);
          if (summary) count++;
          if (summary?.parent !== undefined && summary.parent !== parent) await moveToParent(parts, scope, { id, parent: summary.parent });
        }
      }
      return count;
    },
  };
}

/** A name that cannot be an id is a name of nothing. */
function refOf(scope: string, session: string): SessionRef | undefined {
  try {
    return checkedRef({ scope, session });
  } catch (error) {
    if (isAgentError(error, "INPUT_INVALID")) return undefined;
    throw error;
  }
}

interface Wanted {
  readonly before?: Place | undefined;
  readonly parent?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** How many sessions to look at in the next step; 0 for no more. */
  readonly step: () => number;
}

/** The sessions of a scope in steps, the one changed last first, from behind a place on. */
async function* newestFirst(
  { connection, keys, views }: IndexParts,
  scope: string,
  { before, parent, signal, step }: Wanted,
): AsyncGenerator<readonly SessionSummary[]> {
  const family = familyOf(keys, scope, parent);
  const newest = before ? String(before.updatedAt) : "+inf";
  for (let start = 0, count = step(); count > 0; count = step()) {
    const words = ["ZRANGE", family, newest, "-inf", "BYSCORE", "REV", "LIMIT", String(start), String(count)];
    const ids = listOf(await unlessAborted(signal, () => connection.answer(words))).flatMap((id) => textOf(id) ?? []);
    const summaries = await unlessAborted(signal, () => Promise.all(ids.map((session) => views.summaryOf({ scope, session }, parent))));
    yield summaries.flatMap((summary) => (summary && (!before || order(before, summary) < 0) ? [summary] : []));
    if (ids.length < count) return;
    start += ids.length;
  }
}

interface Looking {
  readonly signal: AbortSignal | undefined;
  readonly onUnsearched: SearchQuery["onUnsearched"] | undefined;
}

/** The sessions of a scope that a search looks at, the one changed last first. */
async function* newestTexts(
  { connection, keys, texts, searchSessionsMax, searchCharactersMax }: IndexParts,
  scope: string,
  { signal, onUnsearched }: Looking,
): AsyncGenerator<SearchedSession> {
  let characterCount = 0;
  for (let start = 0; start < searchSessionsMax && characterCount <= searchCharactersMax; start += endsMax) {
    const count = Math.min(endsMax, searchSessionsMax - start);
    const input = { keys: [keys.index(scope)], args: [keys.sessions, scope, String(start), String(count)] };
    const ends = listOf(await unlessAborted(signal, () => answerOf(connection, newestEndsScript, input))).map((text) => textOf(text) ?? "");
    for (let at = 0; at < ends.length && characterCount <= searchCharactersMax; at += 2 * stepMax) {
      const step = Array.from({ length: Math.min(stepMax, (ends.length - at) / 2) }, (_, index) => at + 2 * index);
      const look = (index: number): Promise<SearchedSession> | SearchedSession => {
        const [session = "", end = ""] = ends.slice(index, index + 2);
        return texts.kept({ scope, session }, end) ?? texts.read({ scope, session }, end);
      };
      for (const session of await unlessAborted(signal, () => Promise.all(step.map(look)))) {
        characterCount += session.characterCount;
        yield session;
      }
    }
    if (ends.length < 2 * count && characterCount <= searchCharactersMax) return;
  }
  // Whether there is one more was not asked.
  onUnsearched?.();
}

function familyOf(keys: StoreKeys, scope: string, parent: string | undefined): string {
  return parent === undefined ? keys.index(scope) : keys.children(scope, parent);
}

/** Of a child that a build wrote which listed all sessions together. */
async function moveToParent(
  { connection, keys }: IndexParts,
  scope: string,
  { id, parent }: { readonly id: string; readonly parent: string },
): Promise<void> {
  const at = textOf(await connection.answer(["ZSCORE", keys.index(scope), id]));
  if (at === undefined) return;
  await connection.answer(["HSET", keys.session({ scope, session: id }).meta, "parent", parent]);
  await connection.answer(["ZADD", keys.children(scope, parent), at, id]);
  await connection.answer(["ZREM", keys.index(scope), id]);
}

function order(a: Place, b: Place): number {
  return b.updatedAt - a.updatedAt || (a.id < b.id ? 1 : a.id > b.id ? -1 : 0);
}
