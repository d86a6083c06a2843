/*
 * A removed session may have left words in two places that deleting rows does not reach: in the segments of the full-text index, where a deleted
 * entry is only marked, and in the write-ahead log, which keeps the pages as they were. So `sessions.removed` records how far its erasure is: 3: words
 * stand in the index, 2: pages stand in the log, 1: nothing is left. If a process dies before that, the mark stays, and the next process continues.
 */
import { numberOf, type Statements } from "./statements.ts";

/** What `sessions.removed` is right after a removal, and when nothing of the session is left in the file. */
export const removedMark = { withWords: 3, withoutWords: 2, erased: 1 } as const;

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
  const owed = statements.all("SELECT key, removed FROM sessions WHERE removed > 1");
  if (owed.length === 0) return;
  // Only these: what another process removes from now on was not there when the index was merged or the log emptied.
  const keys = JSON.stringify(owed.map((row) => numberOf(row, "key")));
  const lower = (mark: number): void =>
    transaction(() =>
      statements.run("UPDATE sessions SET removed = ?1 WHERE removed > ?1 AND key IN (SELECT value FROM json_each(?2))", mark, keys),
    );
  if (owed.some((row) => numberOf(row, "removed") > removedMark.withoutWords)) {
    mergeWords(statements, transaction);
    lower(removedMark.withoutWords);
  }
  statements.one(`PRAGMA busy_timeout = ${waitMs}`);
  const checkpoint = statements.one("PRAGMA wal_checkpoint(TRUNCATE)");
  statements.one(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
  if (numberOf(checkpoint, "busy") === 0) lower(removedMark.erased);
}

/** Writes the segments of the index anew, without what is marked as deleted. */
function mergeWords(statements: Statements, transaction: (work: () => void) => void): void {
  const changes = (): number => numberOf(statements.one("SELECT total_changes() AS n"), "n");
  // A negative number begins the merge of all segments; the index shows that nothing is left by changing nothing.
  for (let pages = -mergePages, before = -2; changes() - before >= 2; pages = mergePages) {
    before = changes();
    transaction(() => statements.run("INSERT INTO words (words, rank) VALUES ('merge', ?)", pages));
  }
}
