import type { Fact } from "@loopwright/core";
import type { SessionHit } from "@loopwright/core/ports";
import { excerptAround, matchTexts, searchTextsOf, searchWords } from "@loopwright/core/stores";
import { type FreshProjections, summaryOf } from "./index-operations.ts";
import { ownerWords, titleSeq } from "./index-words.ts";
import { readPage } from "./log-operations.ts";
import type { Ask } from "./operation.ts";
import { type SessionRow, sessionColumns, sessionRowOf } from "./session-rows.ts";
import { numberOf, type Statements } from "./statements.ts";
import { isOfOneSession } from "./store-fault.ts";

/** Words of a query that count. */
const wordsMax = 32;
/** Sessions that are asked for in one expression. */
const ownersPerExpression = 100;

/** A text that holds a word: the fact it comes from, or a title. */
interface Found {
  readonly key: number;
  readonly seq: number;
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
  let keys: ReadonlySet<number> = new Set(found.map(({ key }) => key));
  for (const word of others) keys = holdersAmong(about, keys, word);
  return ranked(statements, { found: found.filter(({ key }) => keys.has(key)), word: rarest.word, fresh })
    .slice(0, limit)
    .map(({ session, text }) => ({ session: summaryOf(statements, session, fresh), excerpt: excerptAround(text, sought) }));
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

/** Only a word that many texts hold is looked for by the scope as well: that takes longer. */
function wordOf({ statements, scope, textsMax }: Search, word: string): Word {
  const ofAll = `text : "${word}" *`;
  const ofScope = `owner : "${ownerWords.scope(scope)}" AND ${ofAll}`;
  const countOf = (expression: string): number =>
    numberOf(statements.one("SELECT count(*) AS n FROM (SELECT rowid FROM words WHERE words MATCH ? LIMIT ?)", expression, textsMax), "n");
  const count = countOf(ofAll);
  if (count < textsMax) return { word, text: ofAll, expression: ofAll, count, isRare: true };
  const own = countOf(ofScope);
  return { word, text: ofAll, expression: ofScope, count: own, isRare: own < textsMax };
}

const joined = `SELECT texts.session AS key, texts.seq AS seq FROM (SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT ?) AS newest
  JOIN texts ON texts.id = newest.rowid JOIN sessions ON sessions.key = texts.session WHERE sessions.scope = ? AND sessions.removed = 0 AND sessions.parent IS NULL`;

function textsHolding({ statements, scope, textsMax }: Search, { expression }: Word): readonly Found[] {
  return statements.all(joined, expression, textsMax, scope).map((row) => ({ key: numberOf(row, "key"), seq: numberOf(row, "seq") }));
}

/** Those of the sessions that hold the word anywhere. Of a rare word all texts are looked at; of another one those of these sessions. */
function holdersAmong(about: Search, keys: ReadonlySet<number>, word: Word): ReadonlySet<number> {
  if (word.isRare) {
    const holders = new Set(textsHolding(about, word).map(({ key }) => key));
    return new Set([...keys].filter((key) => holders.has(key)));
  }
  const holders = new Set<number>();
  const asked = [...keys];
  for (let at = 0; at < asked.length; at += ownersPerExpression) {
    const owners = asked.slice(at, at + ownersPerExpression).map((key) => `"${ownerWords.session(key)}"`);
    const expression = `owner : (${owners.join(" OR ")}) AND ${word.text}`;
    const sql = "SELECT DISTINCT texts.session AS key FROM words JOIN texts ON texts.id = words.rowid WHERE words MATCH ?";
    for (const row of about.statements.all(sql, expression)) holders.add(numberOf(row, "key"));
  }
  return holders;
}

/** A session, its best text and what its texts are worth. */
interface Ranked {
  readonly session: SessionRow;
  text: string;
  best: number;
  score: number;
}

function ranked(
  statements: Statements,
  { found, word, fresh }: { readonly found: readonly Found[]; readonly word: string; readonly fresh: FreshProjections },
): readonly Ranked[] {
  const sessions = new Map<number, Ranked>();
  for (const { key, seq } of found) {
    const known = sessions.get(key);
    const session = known?.session ?? sessionAt(statements, key);
    if (!session) continue;
    const text = seq === titleSeq ? (summaryOf(statements, session, fresh).title ?? "") : textAt(statements, session, seq);
    const score = matchTexts([text], [word])?.score ?? 0;
    if (!known) sessions.set(key, { session, text, best: score, score });
    else {
      known.score += score;
      if (score > known.best) [known.text, known.best] = [text, score];
    }
  }
  return [...sessions.values()].sort((a, b) => b.score - a.score || b.session.updatedAt - a.session.updatedAt);
}

function sessionAt(statements: Statements, key: number): SessionRow | undefined {
  const row = statements.one(`SELECT ${sessionColumns} FROM sessions WHERE key = ?`, key);
  return row && sessionRowOf(row);
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
