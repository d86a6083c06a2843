import { AgentError, type Fact, isAgentError } from "@loopwright/core";
import type { SessionHit, SessionIndex, SessionRef, SessionSummary } from "@loopwright/core/ports";
import { excerptAround, matchTexts, projectSession, type SessionProjection, searchTextsOf, searchWords } from "@loopwright/core/stores";
import type { Column, Database, Row } from "./database.ts";
import { factOf } from "./rows.ts";

/** Most summaries or hits of one answer, unless fewer are asked for. */
const pageMax = 100;
/** How many sessions a search reads: those changed last. */
const searchedSessionsMax = 200;

/** Continues the projection of a session with new facts; called in the transaction that appends them. */
export function keepProjection(
  database: Database,
  { scope, session }: SessionRef,
  { before, facts }: { readonly before?: Column | undefined; readonly facts: readonly Fact[] },
): void {
  const known = typeof before === "string" ? projectionOf(before, { scope, session }) : undefined;
  const projection = projectSession(session, known, facts);
  if (!projection) return;
  database.run(
    "UPDATE sessions SET projection = ?, updated_at = ?, parent = ? WHERE scope = ? AND id = ?",
    JSON.stringify(projection),
    projection.summary.updatedAt,
    projection.summary.parent ?? null,
    scope,
    session,
  );
}

/** The index. It is written with the log, so it never lags behind it. */
export function acmeIndex(database: Database): SessionIndex {
  const factsOf = (ref: SessionRef): readonly Fact[] =>
    database
      .all("SELECT body FROM facts WHERE scope = ? AND session = ? ORDER BY seq", ref.scope, ref.session)
      .map(({ body }) => factOf(body, ref));
  /** Of a session whose facts are damaged, none. */
  const textsOf = (ref: SessionRef): readonly string[] => readable(() => factsOf(ref).flatMap(searchTextsOf)) ?? [];
  return {
    async list(scope, { limit = pageMax, before, parent, signal } = {}) {
      signal?.throwIfAborted();
      return await database.atomically(() =>
        database
          .all(
            `SELECT id, projection FROM sessions WHERE scope = ? AND parent IS ? AND updated_at IS NOT NULL AND (updated_at, id) < (?, ?)
             ORDER BY updated_at DESC, id DESC LIMIT ?`,
            scope,
            parent ?? null,
            before?.updatedAt ?? Number.MAX_SAFE_INTEGER,
            before?.id ?? "",
            Math.max(0, limit),
          )
          .flatMap((row) => summariesOf(row, scope)),
      );
    },
    get: (scope, id) =>
      database.atomically(() => {
        const row = database.one("SELECT projection FROM sessions WHERE scope = ? AND id = ? AND projection IS NOT NULL", scope, id);
        return row && projectionOf(row["projection"], { scope, session: id }).summary;
      }),
    async search(scope, query, { limit = pageMax, signal } = {}) {
      signal?.throwIfAborted();
      const sought = [...new Set(searchWords(query))];
      if (sought.length === 0) return [];
      return await database.atomically(() => {
        const recent = database.all(
          "SELECT id, projection FROM sessions WHERE scope = ? AND parent IS NULL AND updated_at IS NOT NULL ORDER BY updated_at DESC, id DESC LIMIT ?",
          scope,
          searchedSessionsMax,
        );
        const found = recent
          .flatMap((row) => summariesOf(row, scope))
          .flatMap((session): readonly (SessionHit & { readonly score: number })[] => {
            const match = matchTexts([...textsOf({ scope, session: session.id }), session.title ?? ""], sought);
            return match ? [{ session, excerpt: excerptAround(match.text, sought), score: match.score }] : [];
          });
        return found
          .sort((a, b) => b.score - a.score || b.session.updatedAt - a.session.updatedAt)
          .slice(0, limit)
          .map(({ session, excerpt }) => ({ session, excerpt }));
      });
    },
    rebuild: (scope) =>
      database.atomically(() => {
        const sessions = database.all("SELECT id FROM sessions WHERE scope = ? AND last_seq > 0", scope);
        for (const { id } of sessions) {
          const ref = { scope, session: String(id) };
          readable(() => keepProjection(database, ref, { facts: factsOf(ref) }));
        }
        return sessions.length;
      }),
  };
}

/** @throws AgentError SESSION_CORRUPT for a value that is not JSON. */
function projectionOf(value: Column | undefined, { scope, session }: SessionRef): SessionProjection {
  try {
    return JSON.parse(String(value)) as SessionProjection;
  } catch (cause) {
    throw new AgentError("SESSION_CORRUPT", { message: `The projection of session ${scope}/${session} is not JSON.`, cause });
  }
}

/** The summary in a row; none where it is damaged, so that the others are still listed. */
function summariesOf({ id, projection }: Row, scope: string): readonly SessionSummary[] {
  const found = readable(() => projectionOf(projection, { scope, session: String(id) }));
  return found ? [found.summary] : [];
}

/** What the work returns; `undefined` where a session is damaged. */
function readable<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (isAgentError(error, "SESSION_CORRUPT")) return undefined;
    throw error;
  }
}
