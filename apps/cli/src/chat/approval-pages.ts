import type { JsonObject } from "@loopwright/core";

/** What a person reads at once: lines as they are written, and characters, which long lines are broken into. */
const page = { linesMax: 40, charactersMax: 3_000 } as const;

const known = new WeakMap<JsonObject, readonly string[]>();

/** The arguments as JSON, in pieces of one page each, together all of it; at least one. */
export function approvalPages(args: JsonObject): readonly string[] {
  const made = known.get(args) ?? pagesOf(JSON.stringify(args, undefined, 2));
  known.set(args, made);
  return made;
}

function pagesOf(text: string): readonly string[] {
  const pages: string[] = [];
  let lines: string[] = [];
  let characters = 0;
  const turn = (): void => {
    if (lines.length > 0) pages.push(lines.join("\n"));
    lines = [];
    characters = 0;
  };
  for (const piece of text.split("\n").flatMap(piecesOf)) {
    if (lines.length === page.linesMax || characters + piece.length > page.charactersMax) turn();
    lines.push(piece);
    characters += piece.length;
  }
  turn();
  return pages;
}

/** A line that fills more than a page in pieces, cut between characters. */
function piecesOf(line: string): readonly string[] {
  if (line.length <= page.charactersMax) return [line];
  const pieces: string[] = [];
  for (let from = 0; from < line.length; ) {
    let to = Math.min(line.length, from + page.charactersMax);
    if (/[\ud800-\udbff]/.test(line.charAt(to - 1)) && to < line.length) to -= 1;
    pieces.push(line.slice(from, to));
    from = to;
  }
  return pieces;
}
