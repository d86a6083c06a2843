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
