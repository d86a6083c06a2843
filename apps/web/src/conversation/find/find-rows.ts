import type { ViewMessage } from "@loopwright/client";
import { textOf } from "@loopwright/core/protocol";
import type { ConversationRow } from "../rows/conversation-row.ts";

const known = new WeakMap<ViewMessage, string>();

/** Indexes of the rows whose message contains these words, from the first to the last. None for words that are only white space. */
export function findRows(rows: readonly ConversationRow[], words: string): readonly number[] {
  const sought = folded(words);
  if (sought === "") return [];
  return rows.flatMap((row, place) => (row.kind === "message" && textIn(row.entry).includes(sought) ? [place] : []));
}

function textIn(entry: ViewMessage): string {
  const text = known.get(entry) ?? folded(textOf(entry.message));
  known.set(entry, text);
  return text;
}

/** As it is compared: small letters, one space between words. */
function folded(text: string): string {
  return text.toLowerCase().replaceAll(/\s+/g, " ").trim();
}
