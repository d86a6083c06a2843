import { createAgent } from "@loopwright/core";
import { fixedPrices } from "@loopwright/core/memory";
import { expect } from "vitest";
import { demoTools } from "./serve.ts";
import { chatPage, openedSession } from "./support/chat-page.ts";
import { handModel } from "./support/hand-model.ts";
import { pageTest } from "./support/page-test.ts";

const prices = fixedPrices({ "hand-1": { inputUsd: 10, outputUsd: 30, cacheReadUsd: 1 } });

pageTest("an answer tells its tokens, cache, cost and time, and the conversation the sum of all", async ({ serve, open }) => {
  const model = handModel();
  const { url } = await serve({ agents: [createAgent({ name: "demo", provider: model.provider, prices })] });
  const page = await open(url);
  const chat = chatPage(page);
  await chat.say("One");
  const first = await model.next();
  first.say("Answer one");
  first.end({ input: 1_000, output: 200, cacheRead: 3_000 });
  await chat.rested();
  const figures = page.getByRole("button", { name: /^Figures of this answer/ });
  expect(await figures.textContent()).toContain("$0.019");
  await figures.click();
  const details = chat.answers.last().locator("dl.figures");
  const written = await details.textContent();
  for (const words of ["Tokens read1,000", "Read from cache3,000", "Tokens written200", "Cost$0.019", "Modelhand-1", "Duration"])
    expect(written).toContain(words);
  await chat.say("Two");
  const second = await model.next();
  second.say("Answer two");
  second.end({ input: 2_000, output: 300, cacheRead: 0 });
  await chat.rested();
  const usage = page.getByRole("button", { name: "Usage of this conversation" });
  await usage.click();
  const panel = page.getByRole("dialog", { name: "Usage of this conversation" });
  const sums = (await panel.textContent()) ?? "";
  for (const words of ["Read3,000", "Read from cache3,000", "Written500", "Tokens in all6,500", "Cost$0.048", "Modelhand-1"])
    expect(sums).toContain(words);
  expect(sums).toContain("In the context now");
  await page.keyboard.press("Escape");
  await panel.waitFor({ state: "hidden" });
});

pageTest("the run view draws turns, model calls and tools along the time, and opens each to its figures", async ({ serve, open }) => {
  const model = handModel();
  const { url } = await serve({ agents: [createAgent({ name: "demo", provider: model.provider, prices, tools: demoTools })] });
  const page = await open(url);
  const chat = chatPage(page);
  await chat.say("Multiply");
  const answer = await model.next();
  answer.call("calculate", { expression: "6 * 7" });
  answer.call("current_time");
  answer.end({ input: 10, output: 5 });
  const last = await model.next();
  last.say("42");
  last.end({ input: 20, output: 7 });
  await chat.rested();
  await page.getByRole("button", { name: "Show how this was made" }).click();
  await page.waitForURL(/#\/c\/[^/]+\/r\//);
  const view = page.getByRole("complementary", { name: "How this answer was made" });
  const steps = view.getByRole("table", { name: "Steps of the run" });
  await steps.waitFor();
  const rows = await steps.getByRole("rowheader").allTextContents();
  expect(rows.filter((row) => row.startsWith("Model call")).length).toBe(2);
  expect(rows.filter((row) => row.startsWith("Tool")).length).toBe(2);
  expect(rows.join("\n")).toMatch(/Turn 1[\s\S]*Turn 2/);
  expect(await view.locator("[data-fact=status]").textContent()).toBe("StatusCompleted");
  const call = steps.getByRole("button", { name: /^Model call/ }).first();
  await call.click();
  expect(await call.getAttribute("aria-expanded")).toBe("true");
  await steps.getByText("Tokens written").waitFor();
  // The address leads here, also after a reload; Escape leads back.
  await page.reload();
  await steps.waitFor();
  await page.keyboard.press("Escape");
  await view.waitFor({ state: "detached" });
  expect(page.url()).toMatch(new RegExp(`#/c/${await openedSession(page)}$`));
});

pageTest("the run view follows a run that goes on, and shows the attempt that failed and the wait after it", async ({ serve, open }) => {
  const model = handModel();
  const { url } = await serve({ provider: model.provider });
  const page = await open(url);
  const chat = chatPage(page);
  await chat.say("Try");
  (await model.next()).fail("MODEL_OVERLOADED", { message: "Too many people ask." });
  const again = await model.next();
  again.say("It works");
  await chat.text("It works").waitFor();
  await chat.field.blur();
  await page.keyboard.press("r");
  const view = page.getByRole("complementary", { name: "How this answer was made" });
  await view.getByText("Running").waitFor();
  const steps = view.getByRole("table", { name: "Steps of the run" });
  await steps.getByText("try 2").waitFor();
  expect((await steps.getByRole("rowheader").allTextContents()).join("\n")).toMatch(/Wait/);
  again.end({ input: 1, output: 1 });
  await view.getByText("Completed").waitFor();
});
