/*
 * A removed session may have left words in two places that deleting rows does not reach: in the segments of the full-text index, where a deleted
 * entry is only marked, and in the write-ahead log, which keeps the pages as they were. So `sessions.removed` says how far its erasure is: 3: words
 * stand in the index, 2: pages stand in the log, 1: nothing is left. A process that dies on the way leaves the mark, and the next one goes on.
 */
import { numberOf, type Statements } from "./statements.ts";

/** What `sessions.removed` is right after a removal. */
export const removedMark: { readonly withWords: number; readonly withoutWords: number } = { withWords: 3, withoutWords: 2 };

/** Pages of the index that are written in one transaction, so that other processes can write between two. */
const mergePages = 1_000;

export interface ErasureParts {
  readonly statements: Statements;
  readonly transaction: (work: () => void) => void;
  /** How long to wait for processes that read or write, and how long all other calls wait. */
  readonly waitMs: number;
  readonly busyTimeoutMs: number;
}

/** Takes the traces of removed sessions out of the file. What other processes prevent now is left for the next call. Throws errors of the engine. */
export function eraseTraces({ statements, transaction, waitMs, busyTimeoutMs }: ErasureParts): void {
  const stage = numberOf(statements.one("SELECT max(removed) AS stage FROM sessions WHERE removed > 1"), "stage");
  if (stage === 0) return;
  if (stage > removedMark.withoutWords) {
    mergeWords(statements, transaction);
    transaction(() => statements.run("UPDATE sessions SET removed = ? WHERE removed > 2", removedMark.withoutWords));
  }
  statements.one(`PRAGMA busy_timeout = ${waitMs}`);
  const checkpoint = statements.one("PRAGMA wal_checkpoint(TRUNCATE)");
  statements.one(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
  if (numberOf(checkpoint, "busy") === 0) transaction(() => statements.run("UPDATE sessions SET removed = 1 WHERE removed > 1"));
}

/** Writes the segments of the index anew, without what is marked as deleted. */
function mergeWords(statements: Statements, transaction: (work: () => void) => void): void {
  const changes = (): number => numberOf(statements.one("SELECT total_changes() AS n"), "n");
  // A negative number begins the merge of all segments; the index says that there is nothing left by changing nothing.
  for (let pages = -mergePages, before = -2; changes() - before >= 2; pages = mergePages) {
    before = changes();
    transaction(() => statements.run("INSERT INTO words (words, rank) VALUES ('merge', ?)", pages));
  }
}
