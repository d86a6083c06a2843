import type { Locator, Page } from "playwright-core";

/** The parts of the page that a chat needs, by what they are called for everybody. */
export interface ChatPage {
  readonly field: Locator;
  readonly stop: Locator;
  readonly send: Locator;
  /** The rows of the conversation that are drawn. */
  readonly rows: Locator;
  /** Those of the user. */
  readonly questions: Locator;
  /** Those of the model, the one that is being written among them. */
  readonly answers: Locator;
  readonly calls: Locator;
  /** What scrolls. */
  readonly log: Locator;
  /** The text of the conversation; the same words are also in a live region. */
  text(words: string | RegExp): Locator;
  /** Writes and sends. */
  say(text: string): Promise<void>;
  /** Resolves when nothing is under way any more. */
  rested(): Promise<void>;
}

/** A chat in this page. */
export function chatPage(page: Page): ChatPage {
  const field = page.getByRole("textbox", { name: "Message", exact: true });
  const stop = page.getByRole("button", { name: "Stop", exact: true });
  const log = page.getByRole("log", { name: "Messages" });
  const rows = page.getByRole("article");
  return {
    field,
    stop,
    send: page.getByRole("button", { name: "Send", exact: true }),
    rows,
    questions: page.getByRole("article", { name: "You", exact: true }),
    answers: page.getByRole("article", { name: /^Answer/ }),
    calls: page.locator(".call"),
    log,
    text: (words) => log.getByText(words),
    async say(text) {
      await field.fill(text);
      await field.press("Enter");
    },
    async rested() {
      // Until the conversation is open nothing could be stopped either.
      await log.waitFor();
      await stop.waitFor({ state: "detached" });
    },
  };
}

/** The id of the session that the address names. */
function sessionIdOf(page: Page): string {
  return /#\/c\/([^/]+)/.exec(page.url())?.[1] ?? "";
}

/** Resolves when the page has gone to a session; with its id. */
export async function openedSession(page: Page): Promise<string> {
  await page.waitForURL(/#\/c\//);
  return sessionIdOf(page);
}
