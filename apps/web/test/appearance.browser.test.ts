import type { Page } from "playwright-core";
import { expect } from "vitest";
import { chatPage } from "./support/chat-page.ts";
import { handModel } from "./support/hand-model.ts";
import { look } from "./support/look.ts";
import { pageTest } from "./support/page-test.ts";

/** How bright the page is: 0 to 255. */
const brightness = (page: Page): Promise<number> =>
  page.evaluate(() => {
    const [red = 0, green = 0, blue = 0] = (getComputedStyle(document.documentElement).backgroundColor.match(/[\d.]+/g) ?? []).map(Number);
    return (red + green + blue) / 3;
  });

pageTest(
  "the page is dark where the system is, follows it, and the switch has the last word, also after a reload",
  async ({ serve, open }) => {
    const { url } = await serve({ provider: handModel().provider });
    const page = await open(url, { colorScheme: "dark" });
    await page.getByRole("radio", { name: "As the system" }).waitFor();
    expect(await brightness(page)).toBeLessThan(60);
    await page.emulateMedia({ colorScheme: "light" });
    await expect.poll(() => brightness(page)).toBeGreaterThan(200);
    await page.getByRole("radio", { name: "Dark" }).check();
    await expect.poll(() => brightness(page)).toBeLessThan(60);
    await page.reload();
    await page.getByRole("radio", { name: "Dark" }).waitFor();
    expect(await brightness(page)).toBeLessThan(60);
    await page.emulateMedia({ colorScheme: "dark" });
    await page.getByRole("radio", { name: "Light" }).check();
    await expect.poll(() => brightness(page)).toBeGreaterThan(200);
    await page.getByRole("radio", { name: "As the system" }).check();
    await expect.poll(() => brightness(page)).toBeLessThan(60);
  },
);

pageTest("nothing moves for people who asked for less motion", async ({ serve, open }) => {
  const model = handModel();
  const { url } = await serve({ provider: model.provider });
  const page = await open(url, { reducedMotion: "reduce" });
  const chat = chatPage(page);
  await chat.say("Think");
  const answer = await model.next();
  answer.think("Hm");
  await page.getByRole("button", { name: "Thinking" }).waitFor();
  const moving = await page.evaluate(() =>
    document
      .getAnimations()
      .filter(({ effect }) => Number(effect?.getComputedTiming().duration ?? 0) * Number(effect?.getComputedTiming().iterations ?? 0) > 50)
      .map((animation) => (animation instanceof CSSAnimation ? animation.animationName : "transition")),
  );
  expect(moving).toEqual([]);
  answer.end();
});

pageTest("at 360 pixels everything fits, and the list of conversations is a drawer that Escape closes", async ({ serve, open }) => {
  const model = handModel();
  const { url, client } = await serve({ provider: model.provider });
  await client.sessions.create({ id: "other", title: "Another one" });
  const page = await open(url, { viewport: { width: 360, height: 640 } });
  const chat = chatPage(page);
  await chat.say("averyverylongwordthatnobodycanbreakanywhere".repeat(4));
  const answer = await model.next();
  answer.say(
    `${"unbreakable".repeat(20)}\n\n| ${"column | ".repeat(9)}\n|${"---|".repeat(9)}\n| ${"a wide cell | ".repeat(9)}\n\n\`\`\`\n${"code ".repeat(60)}\n\`\`\`\n\n`,
  );
  answer.call("calculate", { expression: "1234567890 * 1234567890123456789" });
  answer.end();
  const last = await model.next();
  last.say("Done.");
  last.end();
  await chat.rested();
  await chat.calls.getByRole("button").first().click();
  const widths = await page.evaluate(() => [document.documentElement.scrollWidth, document.querySelector("[role=log]")?.scrollWidth]);
  expect(widths).toEqual([360, 360]);
  await look(page, "narrow-wide-content");
  await page.getByRole("button", { name: "Show conversations" }).click();
  await page.getByRole("link", { name: "Another one" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("link", { name: "Another one" }).waitFor({ state: "hidden" });
  const isBack = await page.getByRole("button", { name: "Show conversations" }).evaluateHandle((button) => button);
  await expect.poll(() => isBack.evaluate((button) => button === document.activeElement)).toBe(true);
  await page.getByRole("button", { name: "Show conversations" }).click();
  await page.getByRole("link", { name: "Another one" }).click();
  await page.getByRole("heading", { name: "Another one" }).waitFor();
  await page.getByRole("link", { name: "Another one" }).waitFor({ state: "hidden" });
});

pageTest("at 200 per cent of size nothing is cut off and nothing scrolls sideways", async ({ serve, open }) => {
  const model = handModel();
  const { url } = await serve({ provider: model.provider });
  // A zoomed window is one of half the pixels, each twice as large.
  const page = await open(url, { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 });
  const chat = chatPage(page);
  await chat.say("Multiply");
  const answer = await model.next();
  answer.say("A few words of an answer that is long enough for more than one line of the page at this size, at least twice.");
  answer.call("calculate", { expression: "6 * 7" });
  answer.end();
  (await model.next()).end();
  await chat.rested();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(640);
  for (const part of [chat.field, chat.send, page.getByRole("button", { name: "Actions for this conversation" })]) {
    const box = await part.boundingBox();
    expect(box && box.x >= 0 && box.y >= 0 && box.x + box.width <= 640 && box.y + box.height <= 400).toBe(true);
  }
  await look(page, "zoomed");
});

pageTest("text of twice the size is no wider than the window", async ({ serve, open }) => {
  const model = handModel();
  const { url } = await serve({ provider: model.provider });
  const page = await open(url);
  const chat = chatPage(page);
  await chat.say("Hello");
  const answer = await model.next();
  answer.say("Words.");
  answer.end();
  await chat.rested();
  await page.evaluate(() => {
    document.documentElement.style.fontSize = "32px";
  });
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBe(1200);
  await look(page, "large-text");
  await chat.send.waitFor();
});

pageTest("under a path of another site everything works: page, list, chat, files, run view", async ({ serve, open }) => {
  const model = handModel();
  const { url } = await serve({ provider: model.provider, basePath: "/team/agents" });
  expect(url).toMatch(/\/team\/agents\/$/);
  const page = await open(url);
  const chat = chatPage(page);
  await chat.say("Hello");
  const answer = await model.next();
  answer.say("From below a path.");
  answer.end();
  await chat.text("From below a path.").waitFor();
  await chat.rested();
  await page.getByRole("button", { name: "Show how this was made" }).click();
  await page.getByRole("table", { name: "Steps of the run" }).waitFor();
  await page.reload();
  await chat.text("From below a path.").waitFor();
});

pageTest("code is coloured by what is loaded with the first block that names a language", async ({ serve, open }) => {
  const model = handModel();
  const { url } = await serve({ provider: model.provider });
  const page = await open(url);
  const loaded: string[] = [];
  page.on("request", (request) => {
    if (request.url().includes("read-code")) loaded.push(request.url());
  });
  const chat = chatPage(page);
  await chat.say("Show me");
  const first = await model.next();
  first.say("```\nplain text\n```");
  first.end();
  await chat.rested();
  await page.locator(".code-block").getByText("plain text").waitFor();
  expect(loaded).toEqual([]);
  await chat.say("And in a language");
  const second = await model.next();
  second.say("```ts\nconst four = 4; // a number\n```");
  second.end();
  await page.locator(".code-keyword").getByText("const").waitFor();
  await page.locator(".code-comment").getByText("// a number").waitFor();
  expect(loaded).toHaveLength(1);
});
