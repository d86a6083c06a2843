import type { Fact } from "@loopwright/core";
import type { SessionHit } from "@loopwright/core/ports";
import { excerptAround, matchTexts, searchTextsOf, searchWords } from "@loopwright/core/stores";
import { type FreshProjections, summaryOf } from "./index-operations.ts";
import { ownerWords, titleSeq } from "./index-words.ts";
import { readPage } from "./log-operations.ts";
import type { Ask } from "./operation.ts";
import { seqLimit } from "./schema.ts";
import { type SessionRow, sessionColumns, sessionRowOf } from "./session-rows.ts";
import { numberOf, type Statements, textOf } from "./statements.ts";
import { isOfOneSession } from "./store-fault.ts";

/** Words of a query that count. */
const wordsMax = 32;

/** A text that holds a word: the fact it comes from, or a title. */
interface Found {
  readonly session: SessionRow;
  readonly seq: number;
  /** The fact as it is stored, not yet verified; null for a title. */
  readonly body: string | null;
}

interface Search extends Pick<Ask<"search">, "scope" | "textsMax"> {
  readonly statements: Statements;
}

/**
 * The sessions that hold all words of the query, best first: of the texts that hold its rarest word those that were indexed last, at most
 * `textsMax`. Each text is worth the more the larger the share of that word in it is.
 */
export function search(
  statements: Statements,
  { scope, query, limit, textsMax }: Ask<"search">,
  fresh: FreshProjections,
): readonly SessionHit[] {
  const sought = [...new Set(searchWords(query))].slice(0, wordsMax);
  const about: Search = { statements, scope, textsMax };
  const [rarest, ...others] = sought.map((word) => wordOf(about, word)).sort((a, b) => a.count - b.count);
  if (!rarest || rarest.count === 0) return [];
  const found = textsHolding(about, rarest);
  let keys: ReadonlySet<number> = new Set(found.map(({ session }) => session.key));
  for (const word of others) keys = holdersAmong(about, keys, word);
  return ranked(statements, { found: found.filter(({ session }) => keys.has(session.key)), word: rarest.word, fresh })
    .slice(0, limit)
    .map(({ session, seq }) => ({
      session: summaryOf(statements, session, fresh),
      excerpt: excerptAround(shownText(statements, { session, seq }, fresh), sought),
    }));
}

/** A word of the query. */
interface Word {
  readonly word: string;
  /** What finds texts that hold it, or a longer one that begins with it. */
  readonly text: string;
  /** The same of the scope alone, where that makes a difference. */
  readonly expression: string;
  /** How many texts hold it; not counted beyond the bound. */
  readonly count: number;
  /** All its texts can be looked at. */
  readonly isRare: boolean;
}

/**
 * Of a word that as many texts hold as are looked at, only these texts count, not those with longer words that begin with it: to find longer words, FTS5
 * reads all texts that hold one. Only a word that many texts hold is looked for by the scope as well, which takes longer too.
 */
function wordOf({ statements, scope, textsMax }: Search, word: string): Word {
  const countOf = (expression: string): number =>
    numberOf(statements.one("SELECT count(*) AS n FROM (SELECT rowid FROM words WHERE words MATCH ? LIMIT ?)", expression, textsMax), "n");
  const itself = `text : "${word}"`;
  const withLonger = `${itself} *`;
  const inScope = (text: string): string => `owner : "${ownerWords.scope(scope)}" AND ${text}`;
  if (countOf(inScope(itself)) >= textsMax) return { word, text: withLonger, expression: inScope(itself), count: textsMax, isRare: false };
  const count = countOf(withLonger);
  if (count < textsMax) return { word, text: withLonger, expression: withLonger, count, isRare: true };
  const own = countOf(inScope(withLonger));
  return { word, text: withLonger, expression: inScope(withLonger), count: own, isRare: own < textsMax };
}

/** `CROSS` keeps the order of the tables: SQLite would begin with all sessions of the scope. */
const newestTexts = `(SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT ?) AS newest
  CROSS JOIN texts ON texts.id = newest.rowid CROSS JOIN sessions ON sessions.key = texts.session`;
const inScope = "WHERE sessions.scope = ? AND sessions.removed = 0 AND sessions.parent IS NULL";
/** With all that ranking needs: three statements for each text would take most of the time of a search. */
const joined = `SELECT ${sessionColumns.replace(/\w+/g, "sessions.$& AS $&")}, texts.seq AS text_seq, facts.body AS body FROM ${newestTexts}
  LEFT JOIN facts ON facts.id = texts.session * ${seqLimit} + texts.seq AND texts.seq <> ${titleSeq} ${inScope}`;
const joinedKeys = `SELECT texts.session AS key FROM ${newestTexts} ${inScope}`;

function textsHolding({ statements, scope, textsMax }: Search, { expression }: Word): readonly Found[] {
  return statements
    .all(joined, expression, textsMax, scope)
    .map((row) => ({ session: sessionRowOf(row), seq: numberOf(row, "text_seq"), body: textOf(row, "body") }));
}

/** `+` keeps FTS5 from looking the word up anew for each of these texts. */
const holdersOf = `SELECT DISTINCT texts.session AS key FROM words CROSS JOIN texts ON texts.id = words.rowid
  WHERE words MATCH ? AND +words.rowid IN (SELECT id FROM texts WHERE session IN (SELECT value FROM json_each(?)))`;

/** Those of the sessions that hold the word anywhere. Of a rare word all texts are looked at; of another one its entries are passed once, for the texts of these sessions. */
function holdersAmong({ statements, scope, textsMax }: Search, keys: ReadonlySet<number>, word: Word): ReadonlySet<number> {
  const rows = word.isRare
    ? statements.all(joinedKeys, word.expression, textsMax, scope)
    : statements.all(holdersOf, word.text, JSON.stringify([...keys]));
  const holders = new Set(rows.map((row) => numberOf(row, "key")));
  return new Set([...keys].filter((key) => holders.has(key)));
}

/** A session, its best text and what its texts are worth. */
interface Ranked {
  readonly session: SessionRow;
  seq: number;
  best: number;
  score: number;
}

function ranked(
  statements: Statements,
  { found, word, fresh }: { readonly found: readonly Found[]; readonly word: string; readonly fresh: FreshProjections },
): readonly Ranked[] {
  const sessions = new Map<number, Ranked>();
  for (const { session, seq, body } of found) {
    const known = sessions.get(session.key);
    const text = seq === titleSeq ? (summaryOf(statements, session, fresh).title ?? "") : spokenIn(body);
    const score = matchTexts([text], [word])?.score ?? 0;
    if (!known) sessions.set(session.key, { session, seq, best: score, score });
    else {
      known.score += score;
      if (score > known.best) [known.seq, known.best] = [seq, score];
    }
  }
  return [...sessions.values()].sort((a, b) => b.score - a.score || b.session.updatedAt - a.session.updatedAt);
}

/** The texts of a stored fact; none of one that cannot be read. */
function spokenIn(body: string | null): string {
  try {
    return body === null ? "" : searchTextsOf(JSON.parse(body) as Fact).join("\n");
  } catch {
    return "";
  }
}

/** What a hit shows, verified against the chain of its log; nothing of a damaged session. */
function shownText(statements: Statements, { session, seq }: Pick<Ranked, "session" | "seq">, fresh: FreshProjections): string {
  if (seq === titleSeq) return summaryOf(statements, session, fresh).title ?? "";
  try {
    const [fact]: readonly Fact[] = JSON.parse(readPage(statements, session, { from: seq, limit: 1 }).text);
    return fact ? searchTextsOf(fact).join("\n") : "";
  } catch (error) {
    if (isOfOneSession(error)) return "";
    throw error;
  }
}
