import type { Line } from "./line-editor.ts";
import { breakLines, widthOf } from "./lines.ts";
import type { Style } from "./style.ts";

/** The line being typed as rows, and the cursor in them. */
export interface InputRows {
  readonly rows: readonly string[];
  readonly cursor: { readonly row: number; readonly column: number };
}

/** Rows of the input that are shown at once. */
const rowsMax = 8;

/** Draws what is being typed; of a long text the rows around the cursor. */
export function inputRows(
  line: Line,
  { width, style, prompt }: { readonly width: number; readonly style: Style; readonly prompt: string },
): InputRows {
  const room = Math.max(4, width - prompt.length - 1);
  const before = cells(line.text.slice(0, line.cursor), room);
  const all = cells(line.text, room);
  const row = Math.max(0, before.length - 1);
  const first = Math.max(0, Math.min(row - rowsMax + 2, all.length - rowsMax));
  const shown = all.slice(first, first + rowsMax);
  const indent = " ".repeat(prompt.length);
  return {
    rows: shown.map((text, at) => (at + first === 0 ? style.cyan(prompt) : indent) + text),
    cursor: { row: row - first, column: prompt.length + widthOf(before.at(-1) ?? "") },
  };
}

/** Broken at the same places whatever follows, so that the cursor's place can be found by cutting the text. */
function cells(text: string, room: number): readonly string[] {
  return text.split("\n").flatMap((part) => (part === "" ? [""] : breakLines(part, room)));
}
