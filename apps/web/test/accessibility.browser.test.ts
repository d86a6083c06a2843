import { createAgent } from "@loopwright/core";
import { fixedPrices } from "@loopwright/core/memory";
import type { BrowserContextOptions, Page } from "playwright-core";
import { expect } from "vitest";
import { everyBlock } from "./harness/sample-text.ts";
import { demoTools } from "./serve.ts";
import { axeProblems } from "./support/axe-check.ts";
import { chatPage, openedSession } from "./support/chat-page.ts";
import { handModel } from "./support/hand-model.ts";
import { look } from "./support/look.ts";
import { type PageScene, pageTest } from "./support/page-test.ts";

const looks: readonly { readonly name: string; readonly options: BrowserContextOptions }[] = [
  { name: "light", options: { colorScheme: "light" } },
  { name: "dark", options: { colorScheme: "dark" } },
  { name: "narrow", options: { colorScheme: "light", viewport: { width: 360, height: 740 } } },
  { name: "narrow-dark", options: { colorScheme: "dark", viewport: { width: 360, height: 740 }, hasTouch: true } },
];

async function sound(page: Page, name: string): Promise<void> {
  await look(page, name);
  expect(await axeProblems(page), name).toEqual([]);
  const isWide = await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
  expect(isWide, `${name} scrolls sideways`).toBe(false);
}

/** A chat with all that can be in one: thinking, tools that end well and badly, every block, a failure, branches. */
async function richChat({ serve, open }: PageScene, options: BrowserContextOptions): Promise<Page> {
  const model = handModel();
  const prices = fixedPrices({ "hand-1": { inputUsd: 10, outputUsd: 30 } });
  const { url } = await serve({ agents: [createAgent({ name: "demo", provider: model.provider, prices, tools: demoTools })] });
  const page = await open(url, options);
  const chat = chatPage(page);
  await chat.say("What is 6 * 7, and how does the log replace state?");
  const first = await model.next();
  first.think("Two questions. The first needs a tool.");
  first.say("I look it up.");
  first.call("calculate", { expression: "6 * 7" });
  first.call("calculate", { expression: "six times seven" });
  first.end({ input: 1_200, output: 80 });
  const second = await model.next();
  second.say(everyBlock);
  second.end({ input: 2_000, output: 900, cacheRead: 1_000 });
  await chat.rested();
  await chat.say("Shorter, please");
  (await model.next()).fail("MODEL_QUOTA_EXHAUSTED", { message: "The account of the test has no quota left." });
  await chat.log.getByRole("alert").waitFor();
  await chat.log.getByRole("button", { name: "Try again" }).click();
  const third = await model.next();
  third.say("The log **is** the state.");
  third.end({ input: 3_000, output: 12 });
  await chat.text("The log is the state.").waitFor();
  await chat.rested();
  return page;
}

for (const { name, options } of looks) {
  const isNarrow = options.viewport !== undefined;

  pageTest(`axe finds nothing wrong at the start and in the dialogs (${name})`, async (scene) => {
    const { url, client } = await scene.serve();
    await client.sessions.create({ id: "old", title: "An old conversation with quite a long title that has to be cut somewhere" });
    const page = await scene.open(url, options);
    await page.getByRole("button", { name: /long answer/ }).waitFor();
    await sound(page, `${name}-start`);
    if (isNarrow) {
      await page.getByRole("button", { name: "Show conversations" }).click();
      await page.getByRole("link", { name: "An old conversation" }).waitFor();
      await sound(page, `${name}-drawer`);
    } else await page.getByRole("link", { name: "An old conversation" }).waitFor();
    await page.getByRole("button", { name: "Keyboard shortcuts" }).click();
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    await sound(page, `${name}-shortcuts`);
    await page.keyboard.press("Escape");
    await page.getByRole("link", { name: "An old conversation" }).focus();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByRole("menu").waitFor();
    await sound(page, `${name}-menu`);
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.getByRole("dialog", { name: "Delete this conversation?" }).waitFor();
    await sound(page, `${name}-delete`);
  });

  pageTest(`axe finds nothing wrong in a chat with all that can be in one, and in its run view (${name})`, async (scene) => {
    const page = await richChat(scene, options);
    const chat = chatPage(page);
    await sound(page, `${name}-chat-end`);
    const toTop = chat.log;
    await toTop.focus();
    await page.keyboard.press("Home");
    await chat.text("What is 6 * 7").waitFor();
    for (const call of await chat.calls.all()) await call.getByRole("button").first().click();
    await page.getByRole("button", { name: "Thoughts" }).click();
    await sound(page, `${name}-chat-tools`);
    await page.getByRole("button", { name: "Usage of this conversation" }).click();
    await page.getByRole("dialog", { name: "Usage of this conversation" }).waitFor();
    await sound(page, `${name}-usage`);
    await page.keyboard.press("Escape");
    await page.getByRole("heading", { name: "How the log replaces state" }).scrollIntoViewIfNeeded();
    await look(page, `${name}-chat-text`);
    await page.getByRole("button", { name: "Show how this was made" }).first().click();
    await page.getByRole("table", { name: "Steps of the run" }).waitFor();
    await sound(page, `${name}-run`);
  });

  pageTest(`axe finds nothing wrong while an answer is written, waits, or asks for a colour (${name})`, async (scene) => {
    const model = handModel();
    const { url } = await scene.serve({ provider: model.provider });
    const page = await scene.open(url, options);
    const chat = chatPage(page);
    await chat.say("Paint the door");
    const answer = await model.next();
    await openedSession(page);
    await sound(page, `${name}-waiting`);
    answer.think("Which colour would fit?");
    answer.say("The door, I think, needs a colour that");
    await chat.text("needs a colour that").waitFor();
    await chat.say("And the window, too");
    await page.getByRole("list", { name: "Waiting messages" }).waitFor();
    await sound(page, `${name}-writing`);
    answer.call("pick_color", { prompt: "The colour of the door" });
    answer.end();
    await page.getByRole("dialog", { name: "The answer needs a colour" }).waitFor();
    await sound(page, `${name}-colour`);
  });
}
