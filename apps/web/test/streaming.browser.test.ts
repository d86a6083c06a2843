import { expect } from "vitest";
import { chatPage, openedSession } from "./support/chat-page.ts";
import { handModel } from "./support/hand-model.ts";
import { pageTest } from "./support/page-test.ts";

pageTest("a new conversation gets an address, a place in the list, and an answer that comes word by word", async ({ serve, open }) => {
  const model = handModel();
  const { url, client } = await serve({ provider: model.provider });
  const page = await open(url);
  const chat = chatPage(page);
  await chat.say("What is a loop?");
  const answer = await model.next();
  const sessionId = await openedSession(page);
  answer.say("A loop ");
  await chat.answers.getByText("A loop").waitFor();
  answer.say("goes on.");
  await chat.answers.getByText("A loop goes on.").waitFor();
  answer.end();
  await chat.rested();
  await page.getByRole("navigation", { name: "Conversations" }).getByRole("link", { name: "What is a loop?" }).waitFor();
  expect(await page.title()).toBe("What is a loop? · Loopwright");
  const { messages } = await client.sessions.get(sessionId);
  expect(messages.map(({ message }) => message.role)).toEqual(["user", "assistant"]);
  expect(await chat.field.evaluate((field) => document.activeElement === field)).toBe(true);
});

pageTest("finished blocks stay the same elements while the answer grows", async ({ serve, open }) => {
  const model = handModel();
  const { url } = await serve({ provider: model.provider });
  const page = await open(url);
  const chat = chatPage(page);
  await chat.say("Tell me");
  const answer = await model.next();
  answer.say("# Loops\n\nThe *first* paragraph.\n\n- one\n- two\n\n```ts\nconst a = 1;\n```\n\nThe la");
  await page.getByText("The la", { exact: true }).waitFor();
  const blocks = await page.locator(".markdown > *").elementHandles();
  const changes = await page.evaluateHandle(() => {
    const seen: string[] = [];
    const watched = [...document.querySelectorAll(".markdown > *")].slice(0, -1);
    for (const block of watched) {
      const watcher = new MutationObserver((records) => seen.push(...records.map(({ type }) => `${block.tagName} ${type}`)));
      watcher.observe(block, { subtree: true, childList: true, characterData: true, attributes: true });
    }
    return seen;
  });
  answer.say("st **paragraph**.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nAnd an end");
  await page.getByRole("cell", { name: "2" }).waitFor();
  await chat.text("And an end").waitFor();
  const isSame = await page.evaluate((before) => {
    const now = [...document.querySelectorAll(".markdown > *")];
    return before.slice(0, -1).map((block, place) => block === now[place]);
  }, blocks);
  expect(isSame.length).toBeGreaterThan(3);
  expect(isSame).toEqual(isSame.map(() => true));
  expect(await changes.jsonValue()).toEqual([]);
  answer.end();
  await chat.rested();
  // The finished message takes the place of the answer that was being written: nothing is drawn anew.
  expect(await changes.jsonValue()).toEqual([]);
  expect(await page.evaluate((before) => before.slice(0, -1).every((block) => block.isConnected), blocks)).toBe(true);
});

pageTest("Markdown of every kind is drawn while it comes: headings, lists, quotes, tables, code, links", async ({ serve, open }) => {
  const model = handModel();
  const { url } = await serve({ provider: model.provider });
  const page = await open(url);
  const chat = chatPage(page);
  await chat.say("Tell me");
  const answer = await model.next();
  answer.say(
    "## Title\n\n1. one\n2. two\n\n> quoted\n\n| left | right |\n|:--|--:|\n| a | b |\n\n```js\nlet x = 'y';\n```\n\n[a link](https://example.com/), `code`, **bold**, ~~gone~~\n\n- [x] done",
  );
  answer.end();
  await chat.rested();
  const written = chat.answers.last();
  await written.getByRole("heading", { name: "Title" }).waitFor();
  expect(await written.getByRole("listitem").count()).toBe(3);
  expect(await written.getByRole("blockquote").textContent()).toBe("quoted");
  expect(await written.getByRole("columnheader", { name: "right" }).count()).toBe(1);
  expect(await written.getByRole("link", { name: "a link" }).getAttribute("rel")).toContain("noopener");
  expect(await written.getByRole("checkbox").isChecked()).toBe(true);
  expect(await written.locator("strong").textContent()).toBe("bold");
  expect(await written.locator("pre code, pre").first().textContent()).toContain("let x = 'y';");
  await written.getByRole("button", { name: "Copy code" }).waitFor();
});

pageTest("thinking is shown while it lasts, folds when it is over, and opens again", async ({ serve, open }) => {
  const model = handModel();
  const { url } = await serve({ provider: model.provider });
  const page = await open(url);
  const chat = chatPage(page);
  await chat.say("Think");
  const answer = await model.next();
  answer.think("First I weigh it.");
  await chat.text("First I weigh it.").waitFor();
  await page.getByRole("button", { name: "Thinking" }).waitFor();
  answer.say("Done.");
  const thoughts = page.getByRole("button", { name: "Thoughts" });
  await thoughts.waitFor();
  expect(await thoughts.getAttribute("aria-expanded")).toBe("false");
  await chat.text("First I weigh it.").waitFor({ state: "hidden" });
  await thoughts.click();
  await chat.text("First I weigh it.").waitFor();
  answer.end();
  await chat.rested();
  expect(await thoughts.getAttribute("aria-expanded")).toBe("true");
});

pageTest("stop keeps what was written, and says so", async ({ serve, open }) => {
  const model = handModel();
  const { url, client } = await serve({ provider: model.provider });
  const page = await open(url);
  const chat = chatPage(page);
  await chat.say("Count");
  const answer = await model.next();
  answer.say("One, two, thr");
  await chat.text("One, two, thr").waitFor();
  await chat.stop.click();
  await chat.text("Stopped here").waitFor();
  await chat.rested();
  await chat.text("One, two, thr").waitFor();
  const { messages } = await client.sessions.get(await openedSession(page));
  expect(messages.at(-1)?.message).toMatchObject({ role: "assistant", stopReason: "aborted", content: [{ text: "One, two, thr" }] });
  await chat.say("Go on");
  (await model.next()).say("ee.");
  await page.getByText("ee.", { exact: true }).waitFor();
  await chat.field.press("Escape");
  await chat.rested();
});
