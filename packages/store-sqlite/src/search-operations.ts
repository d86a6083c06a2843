import type { Fact } from "@loopwright/core";
import { excerptAround, matchTexts, searchTextsOf, searchWords } from "@loopwright/core/stores";
import { type FreshProjections, summaryOf } from "./index-operations.ts";
import { titleSeq } from "./index-words.ts";
import { readPage } from "./log-operations.ts";
import type { Ask, Operations } from "./operation.ts";
import { everyText, type QueryTerm, queryTerms } from "./query-terms.ts";
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
  readonly text: string;
}

interface Search extends Pick<Ask<"search">, "scope" | "textsMax"> {
  readonly statements: Statements;
  readonly fresh: FreshProjections;
}

/**
 * The sessions that hold all words of the query, best first: of the texts that hold its rarest word those that were indexed last, at most
 * `textsMax`. Each text is worth the more the larger the share of that word in it is.
 */
export function search(
  statements: Statements,
  { scope, query, limit, textsMax }: Ask<"search">,
  fresh: FreshProjections,
): Operations["search"]["answer"] {
  const sought = [...new Set(searchWords(query))].slice(0, wordsMax);
  const about: Search = { statements, scope, textsMax, fresh };
  const lookUp = queryTerms(about);
  const words = sought.map(lookUp).sort((a, b) => a.count - b.count);
  const [rarest, ...others] = words;
  if (!rarest || rarest.count === 0) return { hits: [], isPart: false };
  const found = textsHolding(about, rarest);
  let keys: ReadonlySet<number> = new Set(found.map(({ session }) => session.key));
  for (const word of others) keys = holdersAmong(about, keys, word);
  const hits = ranked({ found: found.filter(({ session }) => keys.has(session.key)), word: rarest.word })
    .slice(0, limit)
    .map(({ session, seq }) => ({
      session: summaryOf(statements, session, fresh),
      excerpt: excerptAround(shownText(statements, { session, seq }, fresh), sought),
    }));
  return { hits, isPart: rarest.count >= textsMax || words.some(({ isCut }) => isCut) };
}

/** `CROSS` keeps the order of the tables: SQLite would begin with all sessions of the scope. */
const newestTexts = `(SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT ?) AS newest
  CROSS JOIN texts ON texts.id = newest.rowid CROSS JOIN sessions ON sessions.key = texts.session`;
const inScope = "WHERE sessions.scope = ? AND sessions.removed = 0 AND sessions.parent IS NULL";
/** With all that ranking needs: three statements for each text would take most of the time of a search. */
const joined = `SELECT ${sessionColumns.replace(/\w+/g, "sessions.$& AS $&")}, texts.seq AS text_seq, facts.body AS body FROM ${newestTexts}
  LEFT JOIN facts ON facts.id = texts.session * ${seqLimit} + texts.seq AND texts.seq <> ${titleSeq} ${inScope}`;
const joinedKeys = `SELECT texts.session AS key FROM ${newestTexts} ${inScope}`;

function textsHolding(about: Search, { word, expression, isCut }: QueryTerm): readonly Found[] {
  const found = matched(about, expression);
  if (!isCut) return found;
  const known = new Set(found.map(({ session, seq }) => session.key * seqLimit + seq));
  const newest = matched(about, everyText(about.scope)).filter(({ session, seq }) => !known.has(session.key * seqLimit + seq));
  return [...found, ...newest.filter(({ text }) => matchTexts([text], [word]))];
}

/** The newest texts of the scope that match, not yet verified. */
function matched({ statements, scope, textsMax, fresh }: Search, expression: string): readonly Found[] {
  return statements.all(joined, expression, textsMax, scope).map((row) => {
    const session = sessionRowOf(row);
    const seq = numberOf(row, "text_seq");
    return { session, seq, text: seq === titleSeq ? (summaryOf(statements, session, fresh).title ?? "") : spokenIn(textOf(row, "body")) };
  });
}

/** Entries of a frequent word that are passed to look for it in sessions that hold a rarer one: the newest ones. */
const passedEntriesMax = 100_000;

/** `+` keeps FTS5 from looking the word up anew for each of these texts. */
const holdersOf = `SELECT DISTINCT texts.session AS key FROM (SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT ${passedEntriesMax}) AS passed
  CROSS JOIN texts ON texts.id = passed.rowid WHERE +passed.rowid IN (SELECT id FROM texts WHERE session IN (SELECT value FROM json_each(?)))`;

/** Those of the sessions that hold the word anywhere. Of a rare word all texts are looked at; of another one its newest entries are passed once, for the texts of these sessions. */
function holdersAmong(about: Search, keys: ReadonlySet<number>, word: QueryTerm): ReadonlySet<number> {
  const { statements, scope, textsMax } = about;
  const keysOf = (): readonly number[] => {
    if (word.isCut) return textsHolding(about, word).map(({ session }) => session.key);
    const rows =
      word.count < textsMax
        ? statements.all(joinedKeys, word.expression, textsMax, scope)
        : statements.all(holdersOf, word.withLonger(), JSON.stringify([...keys]));
    return rows.map((row) => numberOf(row, "key"));
  };
  const holders = new Set(keysOf());
  return new Set([...keys].filter((key) => holders.has(key)));
}

/** A session, its best text and what its texts are worth. */
interface Ranked {
  readonly session: SessionRow;
  seq: number;
  best: number;
  score: number;
}

function ranked({ found, word }: { readonly found: readonly Found[]; readonly word: string }): readonly Ranked[] {
  const sessions = new Map<number, Ranked>();
  for (const { session, seq, text } of found) {
    const known = sessions.get(session.key);
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
