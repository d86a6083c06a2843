const sourcesPart = /\n## Sources\n\n((?:\d+\. \[[^\n]*\]\([^\s)]+\)(?:\n|$))+)\s*$/;
const source = /^(\d+)\. \[([^\n]*)\]\((\S+)\)$/gm;
const marks = /(?: \[\d+\])+$/gm;

/** A report whose numbers lead to its sources: `[1]` at the end of a line becomes a link to source 1. Any other text as it is. */
export function citedText(text: string): string {
  const found = sourcesPart.exec(text);
  if (!found) return text;
  const sources = new Map([...(found[1] ?? "").matchAll(source)].map(([, number = "", title = "", url = ""]) => [number, { title, url }]));
  const cited = text.slice(0, found.index).replaceAll(marks, (all) =>
    all.replaceAll(/\[(\d+)\]/g, (mark, number: string) => {
      const one = sources.get(number);
      return one
        ? `[\\[${number}\\]](<${one.url.replaceAll(/[<>]/g, "")}> "${citationPrefix}${number}: ${one.title.replaceAll(/["\\]/g, "'")}")`
        : mark;
    }),
  );
  return cited + text.slice(found.index);
}

/** How the title of a link begins that leads from a claim to its source. */
export const citationPrefix = "Source ";
