/*
 * Owns: which pages a research has read, as its code saw them: a researcher's answer ends with the list, and the supervisor's log keeps it.
 * Does not own: what may be cited (citations).
 */
import type { Hooks, Json, JsonObject, Message } from "@loopwright/core";

/** A page that a tool of the research has fetched. */
export interface ReadPage {
  readonly url: string;
  readonly title: string;
}

/** Stands before the list. It names the session, which neither a page nor the model knows, so that no other list is taken for it. */
const markOf = (session: string): string => `\n\nPages read by ${session}:\n`;
const none = "none";
const listed = /^- (\S+) (.*)$/;

/** The pages in the results of these tools: `details.url`, with `details.title`. A result that failed or never came is no page. */
function pagesIn(messages: readonly Message[], pageTools: readonly string[]): readonly ReadPage[] {
  const pages = new Map<string, ReadPage>();
  for (const message of messages) {
    if (message.role !== "tool_result" || message.outcome !== "ok" || !pageTools.includes(message.toolName ?? "")) continue;
    const { url, title } = objectOf(message.details);
    if (typeof url === "string") pages.set(url, { url, title: typeof title === "string" && title.trim() !== "" ? title : url });
  }
  return [...pages.values()];
}

/** Ends the answer of a researcher with the pages that it has read. */
export const listPages = (pageTools: readonly string[]): Hooks => ({
  name: "pages",
  decide({ reason, message, messages, sessionId }) {
    if (reason !== "no_calls") return undefined;
    const text = message.content.map((part) => (part.type === "text" ? part.text : "")).join("");
    const lines = pagesIn(messages, pageTools).map(({ url, title }) => `- ${url} ${title.replace(/\s+/g, " ")}`);
    return { answer: `${text}${markOf(sessionId)}${lines.join("\n") || none}` };
  },
});

/** The pages at the end of the answer of the researcher in this session. */
export function pagesListed({ session, text: answer }: { readonly session: string; readonly text: string }): readonly ReadPage[] {
  const mark = markOf(session);
  const at = answer.lastIndexOf(mark);
  if (at === -1) return [];
  return answer
    .slice(at + mark.length)
    .split("\n")
    .flatMap((line) => {
      const [, url, title = ""] = listed.exec(line) ?? [];
      return url === undefined ? [] : [{ url, title }];
    });
}

/** The pages that the researchers of this conversation have read, from `details.pages` of their results. */
export function pagesOfResearch(messages: readonly Message[], researcher: string): readonly ReadPage[] {
  const pages = new Map<string, ReadPage>();
  for (const message of messages) {
    if (message.role !== "tool_result" || message.toolName !== researcher) continue;
    const { pages: own } = objectOf(message.details);
    for (const page of Array.isArray(own) ? own : []) {
      const { url, title } = objectOf(page);
      if (typeof url === "string") pages.set(url, { url, title: typeof title === "string" ? title : url });
    }
  }
  return [...pages.values()];
}

const objectOf = (value: Json | undefined): JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
