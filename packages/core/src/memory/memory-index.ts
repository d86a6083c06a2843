import type { SessionHit, SessionIndex, SessionSummary } from "../ports/session-index.ts";
import type { MemorySession, MemorySessions } from "./memory-log.ts";
import { excerptAround, matchTexts, searchTextsOf, searchWords } from "./search-text.ts";
import { projectSession, type SessionProjection } from "./session-projection.ts";

/** Most summaries or hits of one answer, unless asked for fewer. */
const indexPageMax = 100;

/** A projection of the sessions beside it, folded when somebody asks, from where it was left: an append costs nothing. */
export function memoryIndex(sessions: MemorySessions): SessionIndex {
  const projections = new WeakMap<MemorySession, SessionProjection>();

  function summaryOf(id: string, session: MemorySession): SessionSummary | undefined {
    if (session.removed) return undefined;
    const before = projections.get(session);
    const after = projectSession(id, before, session.facts.slice(before?.summary.lastSeq ?? 0));
    if (after) projections.set(session, after);
    return after?.summary;
  }

  function summariesOf(scope: string): readonly (readonly [MemorySession, SessionSummary])[] {
    return [...(sessions.get(scope) ?? [])].flatMap(([id, session]) => {
      const summary = summaryOf(id, session);
      return summary ? [[session, summary] as const] : [];
    });
  }

  return {
    async list(scope, options) {
      const before = options?.before;
      return summariesOf(scope)
        .map(([, summary]) => summary)
        .filter((summary) => !before || newestFirst(before, summary) < 0)
        .sort(newestFirst)
        .slice(0, options?.limit ?? indexPageMax);
    },
    async get(scope, id) {
      const session = sessions.get(scope)?.get(id);
      return session && summaryOf(id, session);
    },
    async search(scope, query, options) {
      const sought = [...new Set(searchWords(query))];
      if (sought.length === 0) return [];
      return summariesOf(scope)
        .flatMap(([session, summary]) => searchSession(session, summary, sought))
        .sort((a, b) => b.score - a.score || newestFirst(a.hit.session, b.hit.session))
        .slice(0, options?.limit ?? indexPageMax)
        .map(({ hit }) => hit);
    },
    async rebuild(scope) {
      for (const session of sessions.get(scope)?.values() ?? []) projections.delete(session);
      return summariesOf(scope).length;
    },
  };
}

type Place = Pick<SessionSummary, "updatedAt" | "id">;

function newestFirst(a: Place, b: Place): number {
  return b.updatedAt - a.updatedAt || (a.id < b.id ? 1 : a.id > b.id ? -1 : 0);
}

/** The session as a hit when its texts together hold every word; the more of its words are matches, the better. */
function searchSession(
  session: MemorySession,
  summary: SessionSummary,
  sought: readonly string[],
): { readonly hit: SessionHit; readonly score: number }[] {
  const match = matchTexts([...session.facts.flatMap(searchTextsOf), summary.title ?? ""], sought);
  return match ? [{ hit: { session: summary, excerpt: excerptAround(match.text, sought) }, score: match.score }] : [];
}
