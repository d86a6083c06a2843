import { urlCharactersMax } from "@loopwright/url-guard";
import { cleanLine } from "./clean-text.ts";
import { type PageNode, tagOf } from "./page-node.ts";

export interface PageLink {
  readonly text: string;
  readonly url: string;
}

/** A link as a complete URL without fragment; `undefined` for one that cannot be fetched. */
export function absoluteUrl(href: string | null | undefined, base: URL): string | undefined {
  const url = href ? URL.parse(href.trim(), base.href) : null;
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "" || url.href.length > urlCharactersMax)
    return undefined;
  url.hash = "";
  return url.href;
}

/** The links of a page with their texts, each URL once, without the page itself. */
export function linksOf(root: PageNode, base: URL): readonly PageLink[] {
  const found = new Map<string, PageLink>();
  const self = absoluteUrl(base.href, base);
  const visit = (node: PageNode): void => {
    if (tagOf(node) === "a") {
      const url = absoluteUrl(node.getAttribute?.("href"), base);
      const text = cleanLine((node.textContent ?? "").slice(0, 1_000), 120);
      if (url !== undefined && url !== self && text !== "" && !found.has(url)) found.set(url, { text, url });
    }
    for (const child of Array.from(node.childNodes)) visit(child);
  };
  visit(root);
  return [...found.values()];
}
