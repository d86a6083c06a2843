import { passageFor } from "./passages.ts";
import type { ReadPage } from "./read-pages.ts";

/** One statement, and the addresses of the pages that it comes from. */
export interface Claim {
  readonly text: string;
  readonly sources: readonly string[];
}

/** A report as the supervisor writes it. */
export interface Report {
  readonly title: string;
  readonly sections: readonly { readonly heading: string; readonly claims: readonly Claim[] }[];
  /** What the research has not found out. */
  readonly open?: readonly string[] | undefined;
}

/** A page that a claim cites. */
export interface Citation {
  readonly url: string;
  /** The title of the page; its address where it has none, or was not fetched by this research. */
  readonly title: string;
  /** A passage of the page, unchanged, that the claim rests on, found by code. Absent: none was found. */
  readonly quote?: string;
}

export interface CitedClaim extends Claim {
  /** In the order of `sources`. */
  readonly citations: readonly Citation[];
}

/** A report with the pages that its claims cite, for a screen to show: `details` of the result of the report tool. */
export interface CitedReport extends Report {
  readonly sections: readonly { readonly heading: string; readonly claims: readonly CitedClaim[] }[];
}

/** The report with the pages that its claims cite. */
export function withCitations(report: Report, pages: readonly ReadPage[]): CitedReport {
  const known = new Map(pages.map((page) => [page.url, page]));
  const citationOf = (text: string, url: string): Citation => {
    const { title = url, quotes = [] } = known.get(url) ?? {};
    const quote = passageFor(text, quotes);
    return { url, title, ...(quote === undefined ? {} : { quote }) };
  };
  const sections = report.sections.map(({ heading, claims }) => ({
    heading,
    claims: claims.map((claim) => ({ ...claim, citations: claim.sources.map((url) => citationOf(claim.text, url)) })),
  }));
  return { ...report, sections };
}

/** A claim of a report that no page of the research supports. */
export interface UncitedClaim {
  readonly claim: string;
  /** The addresses it names that the research has not fetched; empty: it names none. */
  readonly unknown: readonly string[];
}

/** The claims that name no page, or a page that the research has not fetched. Empty: each claim cites pages that were fetched, and nothing else. */
export function uncitedClaims(report: Report, pages: readonly Pick<ReadPage, "url">[]): readonly UncitedClaim[] {
  const fetched = new Set(pages.map(({ url }) => url));
  return report.sections.flatMap(({ claims }) =>
    claims.flatMap(({ text, sources }) => {
      const unknown = sources.filter((url) => !fetched.has(url));
      return sources.length > 0 && unknown.length === 0 ? [] : [{ claim: text, unknown }];
    }),
  );
}

/** The report without these claims, and without sections that have no other. */
export function withoutClaims(report: Report, uncited: readonly UncitedClaim[]): Report {
  const left = new Set(uncited.map(({ claim }) => claim));
  const sections = report.sections.map((section) => ({ ...section, claims: section.claims.filter(({ text }) => !left.has(text)) }));
  return { ...report, sections: sections.filter(({ claims }) => claims.length > 0) };
}

/** What the model reads about them. */
export function uncitedText(uncited: readonly UncitedClaim[], pages: readonly ReadPage[]): string {
  const claims = uncited.map(({ claim, unknown }) =>
    unknown.length === 0 ? `- It names no source: ${claim}` : `- Not fetched in this research: ${unknown.join(", ")}: ${claim}`,
  );
  const known = pages.map(({ url, title }) => `- ${url} ${title}`);
  return [
    "The report was not written: each claim has to cite pages that this research has fetched.",
    ...claims,
    known.length > 0 ? `Pages that may be cited:\n${known.join("\n")}` : "No page was fetched. Name what is not known in `open`.",
  ].join("\n");
}
