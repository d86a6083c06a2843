import stringWidth from "fast-string-width";
import { wrapAnsi } from "fast-wrap-ansi";

/** How many columns the text takes; ANSI codes take none. */
export function widthOf(text: string): number {
  return stringWidth(text);
}

/** The text as lines of at most `width` columns, broken between words where possible. Styles are closed and opened again at the breaks. */
export function wrapLines(text: string, width: number): readonly string[] {
  return wrapAnsi(text, Math.max(1, width), { hard: true, trim: true }).split("\n");
}

/** Like `wrapLines` for text whose spaces matter (code): broken anywhere. */
export function breakLines(text: string, width: number): readonly string[] {
  return wrapAnsi(text, Math.max(1, width), { hard: true, trim: false, wordWrap: false }).split("\n");
}

/** The text filled up with spaces to `width` columns. */
export function padTo(text: string, width: number, align: "left" | "right" | "center" = "left"): string {
  const missing = Math.max(0, width - widthOf(text));
  if (align === "right") return " ".repeat(missing) + text;
  const before = align === "center" ? Math.floor(missing / 2) : 0;
  return " ".repeat(before) + text + " ".repeat(missing - before);
}

/** The first line of the text that fits `width` columns, with an ellipsis where something was left out. */
export function fitLine(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  const [first = ""] = breakLines(text, width - 1);
  return `${first}…`;
}
