import { callsOf, textOf } from "@loopwright/core/protocol";
import type { ConversationRow } from "./conversation-row.ts";

const lineHeight = 25;
const charactersOfLine = 84;
const charactersOfBubbleLine = 62;
const callHeight = 44;
const footHeight = 40;
const gap = 28;

const known = new WeakMap<ConversationRow, number>();

/** About how high a row is in pixels, before it was ever drawn: the nearer, the steadier the scroll bar. */
export function rowHeight(row: ConversationRow): number {
  if (row.kind !== "message") return 60;
  const height = known.get(row) ?? estimate(row);
  known.set(row, height);
  return height;
}

function estimate(row: Extract<ConversationRow, { kind: "message" }>): number {
  const { message } = row.entry;
  const day = row.beginsDay ? 44 : 0;
  if (message.role === "user") return day + gap + footHeight + linesIn(textOf(message).slice(0, 1600), charactersOfBubbleLine) * lineHeight;
  if (message.role !== "assistant") return day + lineHeight * 2;
  const text = textOf(message);
  const lines = text === "" ? 0 : linesIn(text, charactersOfLine) * lineHeight;
  return day + (row.isContinued ? 8 : gap) + lines + callsOf(message).length * callHeight + (row.turns.length > 0 ? footHeight : 0);
}

function linesIn(text: string, width: number): number {
  let lines = 0;
  let start = 0;
  for (let feed = text.indexOf("\n"); ; feed = text.indexOf("\n", start)) {
    const end = feed < 0 ? text.length : feed;
    lines += Math.max(1, Math.ceil((end - start) / width));
    if (feed < 0) return lines;
    start = feed + 1;
  }
}
