/** What store packages share: texts of facts for a log, projections of a session for an index, the search in its texts, and the keys of files. */

export { sha256 } from "../message/sha256.ts";
export { unlessAborted } from "./abortable.ts";
export {
  type BookedReservation,
  type BookLedger,
  bookLedger,
  type ExactAmount,
  exactAmount,
  type LedgerBooks,
  type LedgerOptions,
  type LedgerTerms,
  ledgerRefusal,
  ledgerTerms,
  type TimedLedgerOptions,
  usageAmount,
} from "./book-ledger.ts";
export { checkSecret } from "./check-secret.ts";
export { checkedRef, factTexts } from "./fact-texts.ts";
export { type LedgerLimit, type LedgerLimits, type LedgerSum, ledgerSums } from "./ledger-limits.ts";
export { Ordered } from "./ordered-list.ts";
export { type Erasure, erasureOf, removeWithChildren, sessionsBelow } from "./remove-with-children.ts";
export { excerptAround, matchTexts, searchTextsOf, searchWords, type TextMatch } from "./search-text.ts";
export { parentOf, projectSession, type SessionProjection } from "./session-projection.ts";
export { fileName, fileNoteName, isFileName } from "./stored-file-name.ts";
