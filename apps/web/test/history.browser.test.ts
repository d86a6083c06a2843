import type { Message } from "@loopwright/core";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { chatPage } from "./support/chat-page.ts";
import { handModel } from "./support/hand-model.ts";
import { pageTest, type Served } from "./support/page-test.ts";

const count = 2_000;
const nodesMax = 2_500;
const words = "every fact is kept in order so that who comes late can read what happened ".repeat(3);

function history(): readonly Message[] {
  return Array.from({ length: count }, (_, place) =>
    place % 2 === 0
      ? { role: "user", content: `Question ${place / 2}: ${words.slice(0, 20 + ((place * 7) % 60))}` }
      : {
          role: "assistant",
          content: [{ type: "text", text: `Answer ${(place - 1) / 2}. ${words.slice(0, 20 + ((place * 13) % 200))}` }],
          stopReason: "stop",
        },
  );
}

async function longSession({ url, client }: Served): Promise<string> {
  const { sessionId } = await client.sessions.create({ id: "long", title: "A long one", context: { messages: history() } });
  return `${url}#/c/${sessionId}`;
}

const fromEnd = (page: Page): Promise<number> =>
  chatPage(page).log.evaluate((log) => Math.round(log.scrollHeight - log.scrollTop - log.clientHeight));

const nodes = (page: Page): Promise<number> => page.evaluate(() => document.querySelectorAll("*").length);

pageTest("a history of 2,000 messages opens at its end and costs no more elements than what is in sight", async ({ serve, open }) => {
  const model = handModel();
  const served = await serve({ provider: model.provider });
  const page = await open(await longSession(served));
  const chat = chatPage(page);
  await page.getByText(`Answer ${count / 2 - 1}.`).waitFor();
  await expect.poll(() => fromEnd(page)).toBeLessThan(3);
  expect(await nodes(page)).toBeLessThan(nodesMax);
  expect(await chat.rows.count()).toBeLessThan(60);
  // Every row has its index among all of them.
  expect(await chat.rows.last().getAttribute("aria-setsize")).toBe(String(count));
  await chat.log.focus();
  await page.keyboard.press("Home");
  await page.getByText("Question 0:").waitFor();
  expect(await nodes(page)).toBeLessThan(nodesMax);
  await page.keyboard.press("End");
  await page.getByText(`Answer ${count / 2 - 1}.`).waitFor();
  await expect.poll(() => fromEnd(page)).toBeLessThan(3);
});

pageTest("who reads along is kept at the end, who scrolled up stays where they read, and a button leads back", async ({ serve, open }) => {
  const model = handModel();
  const served = await serve({ provider: model.provider });
  const page = await open(await longSession(served));
  const chat = chatPage(page);
  await chat.say("One more");
  const answer = await model.next();
  for (let piece = 0; piece < 10; piece++) answer.say(`Piece ${piece} of the answer.\n\n`);
  await chat.text("Piece 9 of the answer.").waitFor();
  await expect.poll(() => fromEnd(page)).toBeLessThan(3);

  await chat.log.hover();
  await page.mouse.wheel(0, -1_500);
  const toEnd = page.getByRole("button", { name: "Jump to latest" });
  await toEnd.waitFor();
  // What is read may be measured on the way; after that it stands still.
  const topRow = async (): Promise<string> =>
    chat.log.evaluate((log) => {
      const top = log.getBoundingClientRect().top;
      const row = [...log.querySelectorAll("article")].find((each) => each.getBoundingClientRect().bottom > top + 1);
      return `${row?.dataset["index"]} ${Math.round((row?.getBoundingClientRect().top ?? 0) - top)}`;
    });
  let before = "";
  await expect
    .poll(async () => {
      const last = before;
      before = await topRow();
      return before === last;
    })
    .toBe(true);
  for (let piece = 10; piece < 40; piece++) answer.say(`Piece ${piece} of the answer.\n\n`);
  // What cannot be seen is not drawn; it is read out, though.
  await page.locator("[aria-live=polite]", { hasText: "Piece 39 of the answer." }).waitFor({ state: "attached" });
  expect(await topRow()).toBe(before);

  await toEnd.click();
  await chat.text("Piece 39 of the answer.").waitFor();
  await expect.poll(() => fromEnd(page)).toBeLessThan(3);
  await toEnd.waitFor({ state: "detached" });
  answer.say("And the last word.");
  await chat.text("And the last word.").waitFor();
  await expect.poll(() => fromEnd(page)).toBeLessThan(3);
  answer.end();
  await chat.rested();
  await expect.poll(() => fromEnd(page)).toBeLessThan(3);
});

pageTest("a link to a message of long ago opens the conversation there and marks it", async ({ serve, open }) => {
  const model = handModel();
  const served = await serve({ provider: model.provider });
  const address = await longSession(served);
  const { messages } = await served.client.sessions.get("long");
  const page = await open(`${address}/m/${messages[400]?.id}`);
  const target = page.locator("article[data-target]");
  await target.waitFor();
  expect(await target.textContent()).toContain("Question 200:");
  await expect
    .poll(() => target.evaluate((row) => Math.round(row.getBoundingClientRect().top)), { message: "it is in sight" })
    .toBeLessThan(400);
});

pageTest("going to another conversation shows that one, and the way back leads to the first", async ({ serve, open }) => {
  const { url, client } = await serve({ provider: handModel().provider });
  for (const name of ["first", "second"]) {
    const messages: readonly Message[] = [{ role: "user", content: `The ${name} question` }];
    await client.sessions.create({ id: name, title: `The ${name}`, context: { messages } });
  }
  const page = await open(`${url}#/c/first`);
  await page.getByText("The first question").waitFor();
  await page.getByRole("link", { name: "The second" }).click();
  await page.getByText("The second question").waitFor();
  expect(await page.getByText("The first question").count()).toBe(0);
  await page.goBack();
  await page.getByText("The first question").waitFor();
  expect(await page.getByRole("link", { name: "The first" }).getAttribute("aria-current")).toBe("page");
});

pageTest("words are found in all of a long conversation, also where nothing is drawn", async ({ serve, open }) => {
  const served = await serve({ provider: handModel().provider });
  const page = await open(await longSession(served));
  const chat = chatPage(page);
  await chat.text(`Answer ${count / 2 - 1}.`).waitFor();
  await page.keyboard.press("Control+f");
  const field = page.getByLabel("Find in this conversation");
  await field.fill("Question 17:");
  await chat.text("Question 17:").waitFor();
  expect(await nodes(page)).toBeLessThan(nodesMax);
  await page.keyboard.press("Escape");
  await field.waitFor({ state: "detached" });
});
