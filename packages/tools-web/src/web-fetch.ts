import { defineTool, type Json, type Message, type Tool, type ToolApproval, type ToolEvent } from "@loopwright/core";
import { systemClock } from "@loopwright/core/memory";
import type { Clock } from "@loopwright/core/ports";
import type { ResolveHost } from "@loopwright/url-guard";
import { z } from "zod";
import type { EarlierPage, FetchedPages } from "./fetched-in-log.ts";
import { type FetchedPage, type FetchSettings, fetchPage } from "./http/fetch-page.ts";
import { isKnownUrl } from "./known-url.ts";
import { isReadableType, type PageFormat, type ReadPage, readPage } from "./page/read-page.ts";
import { untrustedBlock } from "./untrusted-block.ts";
import { webError } from "./web-error.ts";
import { parseWebUrl, type WebPolicy, webGuard } from "./web-guard.ts";
import { defaultWebLimits, type WebLimits } from "./web-limits.ts";

export interface WebFetchArguments {
  readonly url: string;
  readonly format?: PageFormat | undefined;
  readonly offset?: number | undefined;
}

export interface WebFetchOptions extends WebPolicy {
  readonly limits?: Partial<WebLimits>;
  /**
   * `known`: only URLs that stand, without any change, in a message of the user or in a result of `web_search` or `web_fetch` of this session, so that
   * a page cannot make the model carry secrets away in a URL of its own making. Default `any`.
   */
  readonly urls?: "any" | "known";
  /** Whether a person must allow a fetch. Default: no. */
  readonly approval?: ToolApproval<WebFetchArguments, unknown>;
  /** `once` (default): a call that a crash interrupted is not fetched again, the model reads that its outcome is unknown. `idempotent`: it is. */
  readonly replay?: "once" | "idempotent";
  /**
   * The pages that the run has fetched or is fetching, `fetchedInLog(store)`: a call for one of them gets the result of the other call, and the page is
   * not requested again. Default: each call fetches.
   */
  readonly fetched?: FetchedPages;
  /** Default `Loopwright/1.0 (web_fetch)`. */
  readonly userAgent?: string;
  /** The look-up of names. Default: that of the operating system. */
  readonly resolve?: ResolveHost;
  /** For the deadline. Default: the real time. */
  readonly clock?: Pick<Clock, "after">;
}

const parameters: z.ZodType<WebFetchArguments> = z.object({
  url: z.string().describe("Complete URL with http or https."),
  format: z.enum(["markdown", "text"]).optional().describe("Default markdown."),
  offset: z.number().int().min(0).optional().describe("First character of a long page to give, from 0. Default 0."),
});

/**
 * The tool `web_fetch`: the readable part of a page, as an untrusted block. Requests go to public addresses only.
 * @throws AgentError CONFIG_INVALID for a policy that can never match
 */
export function webFetch(options: WebFetchOptions = {}): Tool<WebFetchArguments> {
  const { urls = "any", approval, replay = "once", fetched, userAgent = "Loopwright/1.0 (web_fetch)", clock = systemClock } = options;
  const limits = { ...defaultWebLimits, ...options.limits };
  const settings: FetchSettings = { guard: webGuard(options, options.resolve), limits, clock, userAgent };
  return defineTool({
    name: "web_fetch",
    label: "Web page",
    description:
      "Fetches one page of the public web and gives its readable part with title, address and links. Of a long page it gives a part and names the `offset` of the rest. A fetch that was interrupted may be called again.",
    parameters,
    replay,
    timeoutMs: limits.deadlineMs + (fetched?.waitMs ?? 0) + 10_000,
    ...(approval === undefined ? {} : { approval }),
    async *execute({ url, format = "markdown", offset = 0 }, { signal, session, access, callKey }): AsyncGenerator<ToolEvent, void> {
      if (urls === "known") checkKnown(url, session.messages());
      const fetch = async (): Promise<EarlierPage> => {
        const answer = await fetchPage(url, { settings, signal, isReadable: isReadableType });
        const page = readPage(answer, format, limits);
        signal.throwIfAborted();
        return { output: [{ type: "text", text: shown(page, { fetched: answer, offset, limits }) }], details: detailsOf(page, answer) };
      };
      const place = { scope: access.scope, session: session.id, callKey };
      const result = await (fetched ? fetched.read({ place, page: { url, format, offset }, signal }, fetch) : fetch());
      signal.throwIfAborted();
      yield { type: "complete", ...result };
    },
  });
}

function checkKnown(text: string, messages: readonly Message[]): void {
  const url = parseWebUrl(text);
  // Without the URL: an error that repeats it would make it known.
  if (!isKnownUrl(text, url, messages))
    throw webError("unknown_url", "", { what: "stands neither in a message of the user nor in a result of the web tools" });
}

interface ShownOptions {
  readonly fetched: FetchedPage;
  readonly offset: number;
  readonly limits: WebLimits;
}

function shown(page: ReadPage, { fetched, offset, limits }: ShownOptions): string {
  const part = page.text.slice(offset, offset + limits.textCharactersMax).toWellFormed();
  const end = offset + part.length;
  const head = [
    `URL: ${fetched.url.href}`,
    ...(page.title === "" ? [] : [`Title: ${page.title}`]),
    ...(page.canonicalUrl === fetched.url.href ? [] : [`Canonical URL: ${page.canonicalUrl}`]),
    ...(page.byline === undefined ? [] : [`By: ${page.byline}`]),
    ...(page.publishedAt === undefined ? [] : [`Published: ${page.publishedAt}`]),
  ];
  const others = offset === 0 ? page.links.filter(({ url }) => !page.text.includes(`(${url})`)) : [];
  const links = others.slice(0, limits.linksMax).map(({ text, url }) => `- [${text}](${url})`);
  const block = [
    head.join("\n"),
    part === "" ? "(no text here)" : part,
    ...(links.length === 0 ? [] : [`Other links of the page:\n${links.join("\n")}`]),
  ];
  const notes = [
    ...(end < page.text.length ? [`(characters ${offset} to ${end} of ${page.text.length}; the rest begins at offset ${end})`] : []),
    ...(fetched.isCut ? [`(the page was cut: its first ${limits.bodyBytesMax} bytes were read)`] : []),
  ];
  return [untrustedBlock("web_page", block.join("\n\n")), ...notes].join("\n");
}

function detailsOf(page: ReadPage, fetched: FetchedPage): Json {
  return {
    url: fetched.url.href,
    canonicalUrl: page.canonicalUrl,
    title: page.title,
    status: fetched.status,
    contentType: fetched.contentType,
    bytes: fetched.bytes.length,
    isCut: fetched.isCut,
    characters: page.text.length,
    links: page.links.slice(0, 200).map(({ url }) => url),
  };
}
