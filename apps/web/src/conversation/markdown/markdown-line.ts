/** One line of a text, by its places. */
export interface MarkdownLine {
  readonly start: number;
  /** Before the end of the line. */
  readonly end: number;
  /** Where the next one begins. */
  readonly next: number;
  /** Nothing that comes later can change it. */
  readonly isComplete: boolean;
  readonly isBlank: boolean;
  readonly text: string;
}

/** The line that begins at `start`. */
export function readLine(text: string, start: number): MarkdownLine {
  const feed = text.indexOf("\n", start);
  const end = feed < 0 ? text.length : feed;
  const line = text.slice(start, end);
  return { start, end, next: end + 1, isComplete: feed >= 0, isBlank: line.trim() === "", text: line };
}

/** The marks of the fence that the line opens; `undefined` when it opens none. */
export function startsFence(line: string, indentMax: number): string | undefined {
  const found = /^(\s*)(?:(`{3,})[^`]*|(~{3,}).*)$/.exec(line);
  return found && (found[1]?.length ?? 0) <= indentMax ? (found[2] ?? found[3]) : undefined;
}

/** True for a heading with number signs. */
export function startsAtxHeading(line: string): boolean {
  return /^ {0,3}#{1,6}(?:\s|$)/.test(line);
}
