import type { CitedClaim, CitedPage } from "./cited-report.ts";

const sourcesPart = /\n## Sources\n\n((?:\d+\. \[[^\n]*\]\([^\s)]+\)(?:\n|$))+)\s*$/;
const source = /^(\d+)\. \[([^\n]*)\]\((\S+)\)$/gm;
const marks = /^(.*?)((?: \[\d+\])+)$/gm;

/** The address of the citations of a line in the text that is read as Markdown: it names their place in the list beside the text. */
const citationScheme = "citation:";

/** The place that an address of a link names; `undefined`: it is another address. */
export const citationPlace = (address: string): number | undefined =>
  new RegExp(`^${citationScheme}\\d{1,6}$`).test(address) ? Number(address.slice(citationScheme.length)) : undefined;

/** A number of a report, and the source it leads to. */
export interface Citation extends CitedPage {
  readonly number: string;
  /** Whether passages of this page were looked for: then a missing `quote` means that none was found. */
  readonly isRead: boolean;
}

/** A report as Markdown whose numbers at the end of a line are one link, and what these links are. */
export interface CitedText {
  readonly text: string;
  /** Of each link `citation:<place>` the sources that it names. */
  readonly citations: readonly (readonly Citation[])[];
}

/** The numbers of a report with their sources, and with the passages that `claims` have of them. Any other text is as it was, without citations. */
export function citedText(text: string, claims: readonly CitedClaim[] = []): CitedText {
  const found = sourcesPart.exec(text);
  if (!found) return { text, citations: [] };
  const sources = new Map([...(found[1] ?? "").matchAll(source)].map(([, number = "", title = "", url = ""]) => [number, { title, url }]));
  const citations: Citation[][] = [];
  const cited = text.slice(0, found.index).replaceAll(marks, (line, words: string, all: string) => {
    const numbers = [...all.matchAll(/\d+/g)].map(([number]) => number);
    const claim = claims.find((one) => words === `- ${one.text}` || words === one.text || one.text.endsWith(`\n${words}`));
    const named = numbers.map((number) => citationOf(number, sources.get(number), claim));
    if (!named.every((one) => one !== undefined)) return line;
    citations.push(named);
    return `${words} [${numbers.join(", ")}](${citationScheme}${citations.length - 1})`;
  });
  return { text: cited + text.slice(found.index), citations };
}

function citationOf(
  number: string,
  from: { readonly title: string; readonly url: string } | undefined,
  claim: CitedClaim | undefined,
): Citation | undefined {
  const page = claim?.pages.find(({ url }) => url === from?.url);
  return (
    from && {
      number,
      title: from.title,
      url: from.url,
      isRead: page !== undefined,
      ...(page?.quote === undefined ? {} : { quote: page.quote }),
    }
  );
}
