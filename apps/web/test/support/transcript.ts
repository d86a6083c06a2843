import type { LoopwrightClient } from "@loopwright/client";
import { type Message, textOf } from "@loopwright/core";
import type { Page } from "playwright-core";

/** The text of a transcript by speaker, without signs of Markdown and white space. */
export type Transcript = readonly (readonly [who: "user" | "assistant", letters: string])[];

const lettersOf = (text: string): string => text.replaceAll(/[^\p{L}\p{N}]/gu, "");

/** What the page shows: every row must be in sight or near it. */
export async function shownTranscript(page: Page): Promise<Transcript> {
  const rows = await page.getByRole("article").evaluateAll((articles) =>
    articles.map((article): readonly ["user" | "assistant", string] => {
      const isUser = article.getAttribute("aria-label") === "You";
      const texts = [...article.querySelectorAll(isUser ? ".bubble-words" : ".answer > .markdown")];
      return [isUser ? "user" : "assistant", texts.map(({ textContent }) => textContent).join("")];
    }),
  );
  return rows.map(([who, text]): Transcript[number] => [who, lettersOf(text)]).filter(([, letters]) => letters !== "");
}

/** What the server has: the path from the head to the root. */
export async function keptTranscript(client: LoopwrightClient, sessionId: string): Promise<Transcript> {
  const { messages, head } = await client.sessions.get(sessionId);
  const path: Message[] = [];
  for (let id = head; id !== null; ) {
    const found = messages.find((message) => message.id === id);
    if (!found) throw new Error(`The message ${id} is missing.`);
    path.unshift(found.message);
    id = found.parent;
  }
  return path.flatMap((message): Transcript => {
    const letters = lettersOf(textOf(message));
    return (message.role === "user" || message.role === "assistant") && letters !== "" ? [[message.role, letters]] : [];
  });
}
