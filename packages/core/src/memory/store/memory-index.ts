import type { SessionHit, SessionIndex, SessionSummary } from "../../ports/session-index.ts";
import { excerptAround, matchTexts, searchTextsOf, searchWords } from "../../stores/search-text.ts";
import { projectSession, type SessionProjection } from "../../stores/session-projection.ts";
import type { MemorySession, MemorySessions } from "./memory-sessions.ts";

/** The default limit of summaries or hits of one query. */
const indexPageMax = 100;

/** An index that projects each session on request, from the first new fact on. A search reads the newest `searchSessionsMax` sessions. */
export function memoryIndex(sessions: MemorySessions, searchSessionsMax: number): SessionIndex {
  const projections = new WeakMap<MemorySession, SessionProjection>();

  function summaryOf(session: MemorySession): SessionSummary | undefined {
    if (session.removed) return undefined;
    const before = projections.get(session);
    const after = projectSession(session.ref.session, before, session.facts.slice(before?.summary.lastSeq ?? 0));
    if (after) projections.set(session, after);
    return after?.summary;
  }

  return {
    async list(scope, { limit = indexPageMax, before, parent, signal } = {}) {
      signal?.throwIfAborted();
      const found: SessionSummary[] = [];
      if (limit <= 0) return found;
      for (const session of sessions.newestFirst(scope, { before, parent })) {
        const summary = summaryOf(session);
        if (summary && found.push(summary) >= limit) break;
      }
      return found;
    },
    async get(scope, id) {
      const session = sessions.find({ scope, session: id });
      return session && summaryOf(session);
    },
    async search(scope, query, { limit = indexPageMax, signal, onUnsearched } = {}) {
      signal?.throwIfAborted();
      const sought = [...new Set(searchWords(query))];
      if (sought.length === 0) return [];
      const found: Hit[] = [];
      let left = searchSessionsMax;
      for (const session of sessions.newestFirst(scope)) {
        if (left-- <= 0) {
          onUnsearched?.();
          break;
        }
        const summary = summaryOf(session);
        if (summary) found.push(...searchSession(session, summary, sought));
      }
      return found
        .sort((a, b) => b.score - a.score || b.at - a.at)
        .slice(0, limit)
        .map(({ hit }) => hit);
    },
    async rebuild(scope) {
      let count = 0;
      for (const session of sessions.all(scope)) {
        projections.delete(session);
        if (summaryOf(session)) count++;
      }
      return count;
    },
  };
}

interface Hit {
  readonly hit: SessionHit;
  readonly score: number;
  readonly at: number;
}

/** The session as a hit if its texts together hold every word; the larger the share of matching words, the better. */
function searchSession(session: MemorySession, summary: SessionSummary, sought: readonly string[]): readonly Hit[] {
  const match = matchTexts([...session.facts.flatMap(searchTextsOf), summary.title ?? ""], sought);
  return match
    ? [{ hit: { session: summary, excerpt: excerptAround(match.text, sought) }, score: match.score, at: summary.updatedAt }]
    : [];
}
