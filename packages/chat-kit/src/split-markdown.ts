/*
 * Owns: how a long Markdown text becomes messages, each of which reads well alone.
 * Invariants
 *  S1 no piece is longer than the limit, and none is empty;
 *  S2 a block of code that is cut is closed in one piece and opened again in the next;
 *  S3 no pair of surrogates is cut.
 */

const fencePattern = /^ {0,3}(`{3,10}(?!`)|~{3,10}(?!~))(.*)$/;

/** The longest end of a block of code: a line of its own. */
const endCharsMax = 11;

interface Fence {
  readonly mark: string;
  readonly opening: string;
}

/** The pieces of a Markdown text, cut between paragraphs where that leaves pieces of a good size, else between lines, words or characters. */
export function splitMarkdown(markdown: string, charsMax: number): readonly string[] {
  const pieces: string[] = [];
  let lines: string[] = [];
  let size = 0;
  let fence: Fence | undefined;
  const closing = (): string => (fence ? `\n${fence.mark}` : "");
  const add = (line: string): void => {
    lines.push(line);
    size += line.length + 1;
  };
  /** Ends a piece before the line with this index; what follows begins the next one. */
  const endBefore = (index: number, isWithinFence: boolean): void => {
    const rest = lines.slice(index);
    const text = `${lines.slice(0, index).join("\n")}${isWithinFence ? closing() : ""}`;
    if (text.trim() !== "") pieces.push(isWithinFence ? text : text.trim());
    lines = [];
    size = 0;
    if (isWithinFence && fence) add(fence.opening);
    for (const line of rest) add(line);
  };
  for (const whole of markdown.split("\n")) {
    const ends = fence || fencePattern.test(whole) ? endCharsMax : 0;
    const room = charsMax - (fence ? fence.opening.length + 1 : 0) - ends;
    for (const line of piecesOfLine(whole, Math.max(1, room))) {
      const after = fenceAfter(fence, line, charsMax);
      if (size + line.length + (after ? after.mark.length + 1 : 0) > charsMax && lines.length > 0) {
        const gap = fence ? -1 : lines.lastIndexOf("");
        const isGoodGap = gap > 0 && lines.slice(0, gap).join("\n").length * 2 >= charsMax;
        if (isGoodGap && size - lines.slice(0, gap).join("\n").length + line.length <= charsMax) endBefore(gap, false);
        else endBefore(lines.length, fence !== undefined);
      }
      add(line);
      fence = after;
    }
  }
  endBefore(lines.length, fence !== undefined);
  return pieces;
}

/** The open block of code after a line. One whose opening would fill half of a piece is not opened again. */
function fenceAfter(fence: Fence | undefined, line: string, charsMax: number): Fence | undefined {
  const [, mark, info = ""] = fencePattern.exec(line) ?? [];
  if (mark === undefined) return fence;
  if (!fence) return mark.startsWith("`") && info.includes("`") ? undefined : { mark, opening: line.length * 2 < charsMax ? line : mark };
  return mark.startsWith(fence.mark) && info.trim() === "" ? undefined : fence;
}

/** A line, cut into pieces of at most so many characters. */
function piecesOfLine(line: string, charsMax: number): readonly string[] {
  const pieces: string[] = [];
  let rest = line;
  while (rest.length > charsMax) {
    const space = rest.lastIndexOf(" ", charsMax);
    const wanted = space * 2 > charsMax ? space : charsMax;
    const isWithinPair = wanted > 1 && /[\uD800-\uDBFF]/.test(rest.charAt(wanted - 1)) && /[\uDC00-\uDFFF]/.test(rest.charAt(wanted));
    const end = isWithinPair ? wanted - 1 : wanted;
    pieces.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  return [...pieces, rest];
}
