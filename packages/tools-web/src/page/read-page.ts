import { Readability } from "@mozilla/readability";
import type { FetchedPage } from "../http/fetch-page.ts";
import type { WebLimits } from "../web-limits.ts";
import { boundedDocument } from "./bounded-document.ts";
import { cleanLine, cleanText } from "./clean-text.ts";
import { decodeBody } from "./decode-body.ts";
import { absoluteUrl, linksOf, type PageLink } from "./page-links.ts";
import type { PageNode } from "./page-node.ts";
import { toMarkdown } from "./to-markdown.ts";

/** A page as a model reads it. Everything in it is untrusted. */
export interface ReadPage {
  readonly title: string;
  /** What the page names as its own address, else where it was found. */
  readonly canonicalUrl: string;
  readonly byline?: string;
  readonly publishedAt?: string;
  readonly text: string;
  /** All links of the page, also those outside of the article. */
  readonly links: readonly PageLink[];
}

export type PageFormat = "markdown" | "text";

const htmlTypes = new Set(["text/html", "application/xhtml+xml"]);
const textTypes =
  /^(text\/(?!html$|javascript$|css$).+|application\/(json|xml|rss\+xml|atom\+xml|ld\+json|yaml|x-ndjson)|application\/.+\+(json|xml))$/;
/** Characters of HTML up to which the article of a page is looked for: the search costs far more than the reading. */
const articleHtmlMax = 1_000_000;
/** Characters of an article below which the whole page is read instead. */
const articleCharactersMin = 200;

/** Whether pages of this type can be read: HTML and text. PDF, images and archives cannot. */
export function isReadableType(contentType: string): boolean {
  return htmlTypes.has(contentType) || textTypes.test(contentType);
}

/** The readable part of a page. HTML goes through Readability; what remains too short is read whole. */
export function readPage(page: FetchedPage, format: PageFormat, limits: WebLimits): ReadPage {
  const isHtml = htmlTypes.has(page.contentType);
  const text = decodeBody(page.bytes, page.charset, isHtml);
  if (isHtml) return readHtml(text, { url: page.url, isPlain: format === "text", limits });
  return { title: "", canonicalUrl: page.url.href, text: cleanText(text), links: [] };
}

interface HtmlOptions {
  readonly url: URL;
  readonly isPlain: boolean;
  readonly limits: WebLimits;
}

function readHtml(html: string, { url, isPlain, limits }: HtmlOptions): ReadPage {
  const { document, canonical, base: baseHref, isFlattened } = boundedDocument(html, limits);
  const base = new URL(absoluteUrl(baseHref, url) ?? url.href);
  const options = { base, isPlain };
  const body: PageNode = document.body;
  const links = linksOf(body, base);
  const whole = toMarkdown(body, options);
  const title = cleanLine(document.title ?? "", 300);
  // Last, because it moves the nodes of the document.
  const article = isFlattened || html.length > articleHtmlMax ? undefined : articleOf(document);
  const read = article?.content ? toMarkdown(article.content, options) : "";
  const isArticle = read.length >= articleCharactersMin || read.length >= whole.length;
  return {
    title: title || cleanLine(article?.title ?? "", 300),
    canonicalUrl: canonicalOf(canonical, base, url),
    ...named("byline", article?.byline, 120),
    ...named("publishedAt", article?.publishedTime, 40),
    text: isArticle ? read : whole,
    links,
  };
}

type Article = ReturnType<Readability<PageNode>["parse"]>;

function articleOf(document: ConstructorParameters<typeof Readability>[0]): Article | undefined {
  try {
    return new Readability<PageNode>(document, { disableJSONLD: true, serializer: (node) => node as unknown as PageNode }).parse();
  } catch {
    // It is made for pages that mean well; of others the whole page is read.
    return undefined;
  }
}

/** Only of the same site: a page cannot claim to be another. */
function canonicalOf(href: string | undefined, base: URL, url: URL): string {
  const canonical = absoluteUrl(href, base);
  return canonical !== undefined && new URL(canonical).hostname === url.hostname ? canonical : url.href;
}

function named<Name extends string>(name: Name, value: string | null | undefined, max: number): { readonly [K in Name]?: string } {
  const text = cleanLine(value ?? "", max);
  return (text === "" ? {} : { [name]: text }) as { readonly [K in Name]?: string };
}
