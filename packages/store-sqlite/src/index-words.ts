import type { Fact } from "@loopwright/core";
import { searchTextsOf, searchWords } from "@loopwright/core/stores";
import { liveSessions } from "./index-operations.ts";
import { readPage } from "./log-operations.ts";
import { wordListTable, wordsTable } from "./schema.ts";
import { type SessionRow, sessionColumns, sessionRowOf } from "./session-rows.ts";
import type { Statements } from "./statements.ts";
import { isOfOneSession } from "./store-fault.ts";

/** Titles are indexed as if they stood before the first fact. */
export const titleSeq = 0;

/** What one step of indexing reads at most, about: the appends that wait for it wait some tens of milliseconds. */
const step: { readonly facts: number; readonly characters: number } = { facts: 200, characters: 64 * 1024 };

const unindexed = `SELECT ${sessionColumns} FROM sessions INDEXED BY sessions_unindexed WHERE scope = ? AND indexed_seq < last_seq LIMIT 1`;

/** True when texts of the scope are not in the index of words. */
export function hasUnindexed(statements: Statements, scope: string): boolean {
  return statements.one(unindexed, scope) !== undefined;
}

/** Puts texts of a scope into the index of words, from where it was left, as many as one step takes. The caller holds the write transaction. */
export function indexSomeTexts(statements: Statements, scope: string): void {
  for (let facts = 0, characters = 0; facts < step.facts && characters < step.characters; ) {
    const row = statements.one(unindexed, scope);
    if (!row) return;
    const session = sessionRowOf(row);
    const indexed = indexPage(statements, { scope, session, limit: step.facts - facts });
    statements.run("UPDATE sessions SET indexed_seq = ? WHERE key = ?", indexed?.lastSeq ?? session.lastSeq, session.key);
    facts += Math.max(1, (indexed?.lastSeq ?? session.indexedSeq) - session.indexedSeq);
    characters += indexed?.characters ?? 0;
  }
}

/** Indexes a scope in tables that live in memory and hide those of the file: for a file that cannot be written. */
export function indexInMemory(statements: Statements, scope: string): void {
  statements.run("DROP TABLE IF EXISTS temp.word_list");
  statements.run("DROP TABLE IF EXISTS temp.texts");
  statements.run("DROP TABLE IF EXISTS temp.words");
  statements.run("CREATE TEMP TABLE texts (id INTEGER PRIMARY KEY, session INTEGER NOT NULL, seq INTEGER NOT NULL)");
  statements.run(wordsTable("temp.words"));
  statements.run(wordListTable("temp"));
  for (const session of liveSessions(statements, scope))
    for (let from = 1; from <= session.lastSeq; ) {
      const indexed = indexPage(statements, { scope, session: { ...session, indexedSeq: from - 1 }, limit: session.lastSeq });
      from = (indexed?.lastSeq ?? session.lastSeq) + 1;
    }
}

interface Page {
  readonly scope: string;
  readonly session: SessionRow;
  readonly limit: number;
}

/** Up to where the session is indexed now, and what was read for it. `undefined`: the log is damaged; what comes before the damage can be found. */
function indexPage(
  statements: Statements,
  { scope, session, limit }: Page,
): { readonly lastSeq: number; readonly characters: number } | undefined {
  const from = session.indexedSeq + 1;
  try {
    const { text, count } = readPage(statements, session, { from, limit });
    const facts: readonly Fact[] = JSON.parse(text);
    for (const fact of facts) indexFact(statements, { scope, key: session.key }, fact);
    return { lastSeq: session.indexedSeq + count, characters: text.length };
  } catch (error) {
    // Readers of the log get the error.
    if (!isOfOneSession(error)) throw error;
    return undefined;
  }
}

interface Owner {
  readonly scope: string;
  readonly key: number;
}

/** The words that stand in the column `owner`. Ids hold signs between words, so scopes go in as hexadecimal digits. */
export const ownerWords = {
  scope: (scope: string): string => `s${Buffer.from(scope).toString("hex")}`,
  session: (key: number): string => `k${key}`,
};

function indexFact(statements: Statements, owner: Owner, fact: Fact): void {
  const texts = searchTextsOf(fact);
  if (texts.length > 0) addWords(statements, { owner, seq: fact.seq, text: texts.join("\n") });
  const title = fact.type === "session.opened" || fact.type === "session.changed" ? fact.title : undefined;
  if (title === undefined) return;
  statements.run("DELETE FROM words WHERE rowid IN (SELECT id FROM texts WHERE session = ? AND seq = ?)", owner.key, titleSeq);
  statements.run("DELETE FROM texts WHERE session = ? AND seq = ?", owner.key, titleSeq);
  addWords(statements, { owner, seq: titleSeq, text: title });
}

function addWords(
  statements: Statements,
  { owner: { scope, key }, seq, text }: { readonly owner: Owner; readonly seq: number; readonly text: string },
): void {
  const owners = `${ownerWords.scope(scope)} ${ownerWords.session(key)}`;
  statements.run("INSERT INTO texts (session, seq) VALUES (?, ?)", key, seq);
  statements.run("INSERT INTO words (rowid, text, owner) VALUES (last_insert_rowid(), ?, ?)", searchWords(text).join(" "), owners);
}
