import { type Message, textOf } from "@loopwright/core";

/** Tools whose results hold URLs of the web, and not what the model gave them. */
const sources = new Set(["web_search", "web_fetch"]);

/** Whether a URL stands, as given or as it was parsed, in a message of the user or in a result of the web tools. The model's own words do not count. */
export function isKnownUrl(text: string, url: URL, messages: readonly Message[]): boolean {
  const plain = new URL(url);
  plain.hash = "";
  const spellings = new Set([text, url.href, plain.href, plain.href.replace(/\/$/, "")]);
  return messages.some((message) => {
    const words = wordsOf(message);
    return [...spellings].some((spelling) => holds(words, spelling));
  });
}

function wordsOf(message: Message): string {
  const isSource =
    message.role === "user" || (message.role === "tool_result" && message.outcome === "ok" && sources.has(message.toolName ?? ""));
  return isSource ? textOf(message) : "";
}

/** As a whole: the beginning of a longer URL is another URL. */
function holds(words: string, url: string): boolean {
  for (let at = words.indexOf(url); at !== -1; at = words.indexOf(url, at + 1)) {
    const next = words[at + url.length] ?? " ";
    if (/[\s"'<>)\]}|,;.!?]/.test(next)) return true;
  }
  return false;
}
