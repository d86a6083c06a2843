import { widthOf } from "./lines.ts";

/** What the region needs of a terminal. */
export interface TerminalOutput {
  write(text: string): unknown;
  readonly columns?: number;
}

/** Lines at the bottom of the terminal that may change, and where the cursor stands in them. */
export interface LiveFrame {
  /** Printed once above the live lines, for ever. */
  readonly finished: readonly string[];
  /** Fewer than the terminal has rows, each narrower than it has columns. */
  readonly live: readonly string[];
  /** Row counts from the first live line. */
  readonly cursor: { readonly row: number; readonly column: number };
}

const begin = "\u001b[?2026h";
const end = "\u001b[?2026l";
const reset = "\u001b[0m";
const eraseLine = "\u001b[K";
const eraseBelow = "\u001b[J";

/**
 * Owns: the last rows of the terminal. Invariants: I1 a finished line is written once, and no row above the live ones is ever
 * touched again; I2 one frame is one write, between the marks of synchronized output (terminals that do not know them ignore
 * them); I3 rows that did not change are not written.
 */
export interface LiveRegion {
  draw(frame: LiveFrame): void;
  /** Removes the live lines; the cursor then stands where they began. */
  clear(): void;
}

class BottomRegion implements LiveRegion {
  private shown: readonly string[] = [];
  private cursor = { row: 0, column: 0 };
  private columns: number | undefined;

  private readonly output: TerminalOutput;

  constructor(output: TerminalOutput) {
    this.output = output;
    this.columns = output.columns;
  }

  draw(frame: LiveFrame): void {
    const moved = frame.cursor.row !== this.cursor.row || frame.cursor.column !== this.cursor.column;
    const resized = this.columns !== this.output.columns;
    if (frame.finished.length === 0 && !moved && !resized && same(frame.live, this.shown)) return;
    let keep = 0;
    if (frame.finished.length === 0 && !resized) while (keep < frame.live.length && frame.live[keep] === this.shown[keep]) keep += 1;
    keep = Math.max(0, Math.min(keep, frame.live.length - 1, this.shown.length - 1));
    const lines = [...frame.finished, ...frame.live.slice(keep)];
    const top = this.home(resized, keep);
    const body = lines.map((line) => line + reset + eraseLine).join("\r\n");
    const lastRow = frame.live.length - 1;
    const up = lastRow - frame.cursor.row;
    const place = `${up > 0 ? `\u001b[${up}A` : ""}\r${frame.cursor.column > 0 ? `\u001b[${frame.cursor.column}C` : ""}`;
    this.output.write(`${begin}${top}${body}${eraseBelow}${place}${end}`);
    this.remember(frame.live, frame.cursor);
  }

  clear(): void {
    this.output.write(this.home(this.columns !== this.output.columns, 0) + eraseBelow);
    this.remember([], { row: 0, column: 0 });
  }

  private remember(live: readonly string[], cursor: LiveFrame["cursor"]): void {
    this.shown = live;
    this.cursor = cursor;
    this.columns = this.output.columns;
  }

  /** Moves from the cursor to the first column of live row `row`. */
  private home(resized: boolean, row: number): string {
    const up = (resized ? this.rowsAboveCursor() : this.cursor.row) - row;
    return up > 0 ? `\r\u001b[${up}A` : up < 0 ? `\r\u001b[${-up}B` : "\r";
  }

  /** After the terminal became narrower it has broken our lines: counts the rows that those above the cursor take now. */
  private rowsAboveCursor(): number {
    const columns = this.output.columns ?? 80;
    const above = this.shown.slice(0, this.cursor.row).reduce((rows, line) => rows + Math.max(1, Math.ceil(widthOf(line) / columns)), 0);
    return above + Math.floor(this.cursor.column / columns);
  }
}

/** The live region of a terminal whose cursor stands in the first column of an empty row. */
export function createLiveRegion(output: TerminalOutput): LiveRegion {
  return new BottomRegion(output);
}

function same(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((line, at) => line === b[at]);
}
