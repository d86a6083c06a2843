import { AgentError, type Fact } from "@loopwright/core";
import type { SessionRef } from "@loopwright/core/ports";
import type { Database, Row } from "./database.ts";

/** The row of a session; `undefined` for one that was never written to. */
export function sessionOf(database: Database, { scope, session }: SessionRef): Row | undefined {
  return database.one("SELECT * FROM sessions WHERE scope = ? AND id = ?", scope, session);
}

/** The row of a session, made where it is missing. */
export function openSession(database: Database, ref: SessionRef): Row {
  database.run("INSERT OR IGNORE INTO sessions (scope, id) VALUES (?, ?)", ref.scope, ref.session);
  return sessionOf(database, ref) as Row;
}

/** @throws AgentError SESSION_CORRUPT for a row that is not JSON: one damaged session leaves the others readable. */
export function factOf(body: unknown, { scope, session }: SessionRef): Fact {
  try {
    return JSON.parse(String(body)) as Fact;
  } catch (cause) {
    throw new AgentError("SESSION_CORRUPT", { message: `A fact of session ${scope}/${session} is not JSON.`, cause });
  }
}
