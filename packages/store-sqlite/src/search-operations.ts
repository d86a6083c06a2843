import type { Fact } from "@loopwright/core";
import { excerptAround, searchTextsOf, searchWords } from "@loopwright/core/memory";
import type { SessionHit } from "@loopwright/core/ports";
import { type FreshProjections, liveSessions, pagesOf, summaryOf } from "./index-operations.ts";
import { readPage } from "./log-operations.ts";
import type { Ask } from "./operation.ts";
import { wordsTable } from "./schema.ts";
import { type SessionRow, sessionRowOf } from "./session-rows.ts";
import { numberOf, type Statements } from "./statements.ts";
import { isOfOneSession } from "./store-fault.ts";

/** Titles are indexed as if they stood before the first fact. */
const titleSeq = 0;

/** Keys of the sessions of a scope whose texts are not all in the index of words. */
export function unindexedKeys(statements: Statements, scope: string): readonly number[] {
  return liveSessions(statements, scope).flatMap(({ key, indexedSeq, lastSeq }) => (indexedSeq < lastSeq ? [key] : []));
}

/** Puts the texts of a session into the index of words, from where it was left. The caller holds the write transaction. */
export function indexSession(statements: Statements, key: number): void {
  const row = statements.one("SELECT * FROM sessions WHERE key = ?", key);
  if (!row) return;
  const session = sessionRowOf(row);
  indexFacts(statements, session, session.indexedSeq + 1);
  statements.run("UPDATE sessions SET indexed_seq = ? WHERE key = ?", session.lastSeq, key);
}

/** Indexes a scope in tables that live in memory and hide those of the file: for a file that cannot be written. */
export function indexInMemory(statements: Statements, scope: string): void {
  statements.run("DROP TABLE IF EXISTS temp.texts");
  statements.run("DROP TABLE IF EXISTS temp.words");
  statements.run("CREATE TEMP TABLE texts (id INTEGER PRIMARY KEY, session INTEGER NOT NULL, seq INTEGER NOT NULL)");
  statements.run(wordsTable("temp.words"));
  for (const session of liveSessions(statements, scope)) indexFacts(statements, session, 1);
}

function indexFacts(statements: Statements, session: SessionRow, from: number): void {
  try {
    for (const facts of pagesOf(statements, session, from)) for (const fact of facts) indexFact(statements, session.key, fact);
  } catch (error) {
    // What comes before the damage can be found; whoever reads the log is told.
    if (!isOfOneSession(error)) throw error;
  }
}

function indexFact(statements: Statements, key: number, fact: Fact): void {
  const texts = searchTextsOf(fact);
  if (texts.length > 0) addWords(statements, { key, seq: fact.seq, text: texts.join("\n") });
  const title = fact.type === "session.opened" || fact.type === "session.changed" ? fact.title : undefined;
  if (title === undefined) return;
  statements.run("DELETE FROM words WHERE rowid IN (SELECT id FROM texts WHERE session = ? AND seq = ?)", key, titleSeq);
  statements.run("DELETE FROM texts WHERE session = ? AND seq = ?", key, titleSeq);
  addWords(statements, { key, seq: titleSeq, text: title });
}

function addWords(statements: Statements, { key, seq, text }: { readonly key: number; readonly seq: number; readonly text: string }): void {
  const words = searchWords(text).join(" ");
  statements.run("INSERT INTO texts (session, seq) VALUES (?, ?)", key, seq);
  statements.run("INSERT INTO words (rowid, text) VALUES (last_insert_rowid(), ?)", words);
}

/** What a session's matches add up to. */
interface Match {
  /** The more negative the better, as the engine counts. */
  rank: number;
  best: { readonly seq: number; readonly rank: number };
}

/** The sessions that hold all words of the query, best first. */
export function search(statements: Statements, { scope, query, limit }: Ask<"search">, fresh: FreshProjections): readonly SessionHit[] {
  const sought = [...new Set(searchWords(query))];
  if (sought.length === 0) return [];
  const phrases = sought.map((word) => `"${word}"*`);
  const matches = matchesOf(statements, scope, phrases.join(" OR "));
  const holders = phrases.length === 1 ? [] : phrases.map((phrase) => holdersOf(statements, scope, phrase));
  return [...matches]
    .filter(([key]) => holders.every((keys) => keys.has(key)))
    .sort(([, a], [, b]) => a.rank - b.rank)
    .slice(0, limit)
    .flatMap(([key, match]) => hitOf(statements, { key, match, sought }, fresh));
}

const joined =
  "FROM words JOIN texts ON texts.id = words.rowid JOIN sessions ON sessions.key = texts.session WHERE words MATCH ? AND scope = ? AND removed = 0";

function matchesOf(statements: Statements, scope: string, expression: string): ReadonlyMap<number, Match> {
  const matches = new Map<number, Match>();
  for (const row of statements.each(`SELECT texts.session AS key, seq, words.rank AS score ${joined}`, expression, scope)) {
    const [key, seq, rank] = [numberOf(row, "key"), numberOf(row, "seq"), numberOf(row, "score")];
    const match = matches.get(key);
    if (!match) matches.set(key, { rank, best: { seq, rank } });
    else {
      match.rank += rank;
      if (rank < match.best.rank) match.best = { seq, rank };
    }
  }
  return matches;
}

function holdersOf(statements: Statements, scope: string, phrase: string): ReadonlySet<number> {
  return new Set(statements.all(`SELECT DISTINCT texts.session AS key ${joined}`, phrase, scope).map((row) => numberOf(row, "key")));
}

function hitOf(
  statements: Statements,
  { key, match, sought }: { readonly key: number; readonly match: Match; readonly sought: readonly string[] },
  fresh: FreshProjections,
): readonly SessionHit[] {
  const row = statements.one("SELECT * FROM sessions WHERE key = ?", key);
  if (!row) return [];
  const session = sessionRowOf(row);
  const summary = summaryOf(statements, session, fresh);
  const { seq } = match.best;
  const text = seq === titleSeq ? (summary.title ?? "") : textAt(statements, session, seq);
  return [{ session: summary, excerpt: excerptAround(text, sought) }];
}

function textAt(statements: Statements, session: SessionRow, seq: number): string {
  try {
    const [fact]: readonly Fact[] = JSON.parse(readPage(statements, session, { from: seq, limit: 1 }).text);
    return fact ? searchTextsOf(fact).join("\n") : "";
  } catch (error) {
    if (isOfOneSession(error)) return "";
    throw error;
  }
}
