import type { Tokens } from "marked";
import { padTo, widthOf, wrapLines } from "../terminal/lines.ts";
import type { Frame } from "./frame.ts";
import { inlineText } from "./inline-text.ts";

const narrowest = 3;

/** A table as lines, its columns narrowed in proportion where it is wider than the frame. */
export function tableLines(table: Tokens.Table, frame: Frame): readonly string[] {
  const { style } = frame;
  const header = table.header.map((cell) => inlineText(cell.tokens, style, style.bold));
  const rows = table.rows.map((row) => row.map((cell) => inlineText(cell.tokens, style)));
  const widths = columnWidths([header, ...rows], frame.width);
  const rowLines = (cells: readonly string[]): readonly string[] => {
    const wrapped = widths.map((width, column) => wrapLines(cells[column] ?? "", width));
    const height = Math.max(1, ...wrapped.map((lines) => lines.length));
    return Array.from({ length: height }, (_, line) =>
      widths
        .map((width, column) => padTo(wrapped[column]?.[line] ?? "", width, table.align[column] ?? "left"))
        .join(style.dim(" │ "))
        .trimEnd(),
    );
  };
  const rule = style.dim(widths.map((width) => "─".repeat(width)).join("─┼─"));
  return [...rowLines(header), rule, ...rows.flatMap(rowLines)];
}

function columnWidths(rows: readonly (readonly string[])[], width: number): readonly number[] {
  const count = Math.max(0, ...rows.map((row) => row.length));
  const wanted = Array.from({ length: count }, (_, column) =>
    Math.max(1, ...rows.map((row) => Math.max(...(row[column] ?? "").split("\n").map(widthOf)))),
  );
  const room = Math.max(count * narrowest, width - 3 * (count - 1));
  let fixed = 0;
  let open = wanted.length;
  // Columns that are narrower than their share keep their width; the others share what is left.
  const result = wanted.map(() => 0);
  for (const { size, column } of wanted.map((size, column) => ({ size, column })).sort((a, b) => a.size - b.size)) {
    const share = Math.max(narrowest, Math.floor((room - fixed) / open));
    result[column] = Math.min(size, share);
    fixed += result[column] ?? 0;
    open -= 1;
  }
  return result;
}
