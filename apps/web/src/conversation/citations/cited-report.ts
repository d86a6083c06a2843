import type { Json } from "@loopwright/core/protocol";

/** A page that a claim of a report cites. */
export interface CitedPage {
  readonly url: string;
  readonly title: string;
  /** A passage of the page, unchanged. Absent: none was found that states the claim. */
  readonly quote?: string;
}

export interface CitedClaim {
  readonly text: string;
  readonly pages: readonly CitedPage[];
}

/** The claims of the report in the details of a result, with the pages they cite; `undefined`: it is no such report. */
export function citedClaimsIn(details: Json | undefined): readonly CitedClaim[] | undefined {
  const sections = recordOf(details)?.["sections"];
  if (!Array.isArray(sections)) return undefined;
  const claims = sections.flatMap((section: Json) => listOf(recordOf(section)?.["claims"]).flatMap(claimIn));
  return claims.length > 0 ? claims : undefined;
}

function claimIn(value: Json): readonly CitedClaim[] {
  const { text, citations } = recordOf(value) ?? {};
  const pages = listOf(citations).flatMap(pageIn);
  return typeof text === "string" && pages.length > 0 ? [{ text, pages }] : [];
}

function pageIn(value: Json): readonly CitedPage[] {
  const { url, title, quote } = recordOf(value) ?? {};
  if (typeof url !== "string") return [];
  return [{ url, title: typeof title === "string" ? title : url, ...(typeof quote === "string" ? { quote } : {}) }];
}

const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);

const recordOf = (value: Json | undefined): { readonly [name: string]: Json } | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as { readonly [name: string]: Json }) : undefined;
