/*
 * Owns: which pages a research has read, as its code saw them: a researcher's answer ends with the list, and the supervisor's log keeps it.
 * Does not own: what may be cited (citations).
 */
import { type Hooks, type Json, type JsonObject, type Message, textOf } from "@loopwright/core";
import { passageFor, sentencesIn } from "./passages.ts";

/** A page that a tool of the research has fetched. */
export interface ReadPage {
  readonly url: string;
  readonly title: string;
  /** Passages of the page, unchanged, that what the researcher wrote of it rests on: three at most. Absent: none was found. */
  readonly quotes?: readonly string[];
}

/** Stands before the list. It names the session, which neither a page nor the model knows, so that no other list is taken for it. */
const markOf = (session: string): string => `\n\nPages read by ${session}:\n`;
const none = "none";
const listed = /^- (\S+) (.*)$/;
const quoted = /^ {2}> (.*)$/;
/** Of one page. */
const quotesMax = 3;

/** The pages in the results of these tools: `details.url`, with `details.title`. A result that failed or never came is no page. */
function pagesIn(
  messages: readonly Message[],
  { pageTools, answer }: { readonly pageTools: readonly string[]; readonly answer: string },
): readonly ReadPage[] {
  const pages = new Map<string, ReadPage>();
  for (const message of messages) {
    if (message.role !== "tool_result" || message.outcome !== "ok" || !pageTools.includes(message.toolName ?? "")) continue;
    const { url, title } = objectOf(message.details);
    if (typeof url !== "string") continue;
    const quotes = [...(pages.get(url)?.quotes ?? []), ...quotesOf(textOf(message), { url, answer })].slice(0, quotesMax);
    pages.set(url, {
      url,
      title: typeof title === "string" && title.trim() !== "" ? title : url,
      ...(quotes.length > 0 ? { quotes } : {}),
    });
  }
  return [...pages.values()];
}

/** The passages that the lines of the answer with this address rest on. */
function quotesOf(text: string, { url, answer }: { readonly url: string; readonly answer: string }): readonly string[] {
  const lines = answer.split("\n").filter((line) => line.includes(url));
  if (lines.length === 0) return [];
  const sentences = sentencesIn(text);
  return [...new Set(lines.slice(0, quotesMax).flatMap((line) => passageFor(line.replaceAll(url, ""), sentences) ?? []))];
}

/** Ends the answer of a researcher with the pages that it has read. */
export const listPages = (pageTools: readonly string[]): Hooks => ({
  name: "pages",
  decide({ reason, message, messages, sessionId }) {
    if (reason !== "no_calls") return undefined;
    const answer = message.content.map((part) => (part.type === "text" ? part.text : "")).join("");
    const lines = pagesIn(messages, { pageTools, answer }).flatMap(({ url, title, quotes = [] }) => [
      `- ${url} ${title.replace(/\s+/g, " ")}`,
      ...quotes.map((quote) => `  > ${quote}`),
    ]);
    return { answer: `${answer}${markOf(sessionId)}${lines.join("\n") || none}` };
  },
});

interface Answer {
  readonly session: string;
  readonly text: string;
}

/** Where the list begins in the answer; -1: it has none. */
const listAt = ({ session, text }: Answer): number => text.lastIndexOf(markOf(session));

/** The pages at the end of the answer of the researcher in this session. */
export function pagesListed(answer: Answer): readonly ReadPage[] {
  const at = listAt(answer);
  const pages: (ReadPage & { quotes?: string[] })[] = [];
  for (const line of at === -1 ? [] : answer.text.slice(at + markOf(answer.session).length).split("\n")) {
    const [, url, title = ""] = listed.exec(line) ?? [];
    const [, quote] = quoted.exec(line) ?? [];
    const last = pages.at(-1);
    if (url !== undefined) pages.push({ url, title });
    else if (quote !== undefined && last) last.quotes = [...(last.quotes ?? []), quote];
  }
  return pages;
}

/** The answer without the passages in its list: they are for people, and no text of a page is to reach another model by them. */
export function withoutQuotes(answer: Answer): string {
  const at = listAt(answer);
  if (at === -1) return answer.text;
  const lines = answer.text.slice(at).split("\n");
  return answer.text.slice(0, at) + lines.filter((line) => !quoted.test(line)).join("\n");
}

/** The pages that the researchers of this conversation have read, from `details.pages` of their results. */
export function pagesOfResearch(messages: readonly Message[], researcher: string): readonly ReadPage[] {
  const pages = new Map<string, ReadPage>();
  for (const message of messages) {
    if (message.role !== "tool_result" || message.toolName !== researcher) continue;
    const { pages: own } = objectOf(message.details);
    for (const page of Array.isArray(own) ? own : []) {
      const { url, title, quotes: given } = objectOf(page);
      if (typeof url !== "string") continue;
      const quotes = [...(pages.get(url)?.quotes ?? []), ...(Array.isArray(given) ? given.filter((one) => typeof one === "string") : [])];
      pages.set(url, { url, title: typeof title === "string" ? title : url, ...(quotes.length > 0 ? { quotes } : {}) });
    }
  }
  return [...pages.values()];
}

const objectOf = (value: Json | undefined): JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
