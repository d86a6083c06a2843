import { contextEngine } from "@loopwright/context";
import { agentTool, createAgent, defineTool, type Hooks } from "@loopwright/core";
import { memoryStore, scripted } from "@loopwright/core/memory";
import { drawnImages, generateImage } from "@loopwright/tools-image";
import { expect } from "vitest";
import { axeProblems } from "./support/axe-check.ts";
import { chatPage } from "./support/chat-page.ts";
import { handModel } from "./support/hand-model.ts";
import { look } from "./support/look.ts";
import { pageTest } from "./support/page-test.ts";

const lookUp = defineTool({
  name: "look_up",
  label: "Look up",
  description: "Looks up.",
  parameters: { type: "object" },
  execute: () => "On the Tagus.",
});

pageTest("children of a call open in place, level by level, also after a reload", async ({ serve, open }) => {
  const reader = createAgent({
    name: "reader",
    provider: scripted([{ calls: [{ name: "look_up" }] }, { text: "The page names the **Tagus**.", usage: { input: 900, output: 30 } }]),
    tools: [lookUp],
  });
  const researcher = createAgent({
    name: "researcher",
    provider: scripted([{ calls: [{ name: "reader", args: { task: "Read the page about Lisbon." } }] }, { text: "It lies on the Tagus." }]),
    tools: [agentTool({ agent: reader })],
  });
  const lead = createAgent({
    name: "lead",
    provider: scripted([{ calls: [{ name: "researcher", args: { task: "Where is the port?" } }] }, { text: "On the Tagus, then." }]),
    tools: [agentTool({ agent: researcher })],
  });
  const { url } = await serve({ agents: [lead, researcher, reader] });
  const page = await open(url);
  const chat = chatPage(page);
  await chat.say("Where is the port of Lisbon?");
  await chat.text("On the Tagus, then.").waitFor();
  await chat.rested();

  for (const state of ["watched", "reloaded"] as const) {
    const first = page.getByRole("button", { name: /^Agent researcher/ });
    await first.waitFor();
    expect(await first.textContent()).toMatch(/ended · [\d,.k]+ tokens/);
    expect(await first.getAttribute("aria-expanded")).toBe("false");
    await first.focus();
    await page.keyboard.press("Enter");
    await page.locator(".child-task", { hasText: "Where is the port?" }).waitFor();
    await page.locator(".child-session p", { hasText: "It lies on the Tagus." }).first().waitFor();
    const second = page.getByRole("button", { name: /^Agent reader/ });
    await second.focus();
    await page.keyboard.press("Enter");
    await page.locator(".child-session .child-session strong", { hasText: "Tagus" }).waitFor();
    expect(await page.getByRole("button", { name: /^look_up/ }).count()).toBe(1);
    expect(await axeProblems(page)).toEqual([]);
    await look(page, `children-${state}`);
    if (state === "watched") await page.reload();
  }
  await page.emulateMedia({ colorScheme: "dark" });
  await page.setViewportSize({ width: 360, height: 740 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  expect(await axeProblems(page)).toEqual([]);
  await look(page, "children-narrow-dark");
  await page.getByRole("link", { name: "Open as a conversation" }).last().click();
  await page.waitForURL(/#\/c\//);
});

pageTest("a child is followed while it is at work", async ({ serve, open }) => {
  const model = handModel();
  const researcher = createAgent({ name: "researcher", provider: model.provider });
  const lead = createAgent({
    name: "lead",
    provider: scripted([{ calls: [{ name: "researcher", args: { task: "Where is the port?" } }] }, { text: "There." }]),
    tools: [agentTool({ agent: researcher })],
  });
  const { url } = await serve({ agents: [lead, researcher] });
  const page = await open(url);
  const chat = chatPage(page);
  await chat.say("Where?");
  const answer = await model.next();
  const line = page.getByRole("button", { name: /^Agent researcher/ });
  await line.waitFor();
  expect(await line.textContent()).toContain("at work");
  await line.click();
  await page.locator(".child-task", { hasText: "Where is the port?" }).waitFor();
  await page.locator(".child-session").getByText("At work").waitFor();
  answer.say("In Lisbon.");
  answer.end();
  await page.locator(".child-session p", { hasText: "In Lisbon." }).waitFor();
  await chat.text("There.").waitFor();
  await page.getByRole("button", { name: /^Agent researcher.*ended/ }).waitFor();
});

pageTest("what hooks changed, and the children that they began, show after a reload", async ({ serve, open }) => {
  const judge = createAgent({ name: "judge", provider: scripted([{ text: "Polite." }]) });
  const hooks: Hooks = {
    name: "wording",
    accept: () => ({ action: "edit", message: "Please clean the disk", reason: "politeness" }),
    gate: () => ({ action: "deny", reason: "erasing is not allowed" }),
    async decide({ reason, child }) {
      if (reason !== "no_calls") return undefined;
      await child("judge", judge, "Is this polite?");
      return undefined;
    },
  };
  const agent = createAgent({
    name: "careful",
    provider: scripted([{ calls: [{ name: "look_up" }] }, { text: "I may not." }]),
    tools: [lookUp],
    hooks: [hooks],
  });
  const { url } = await serve({ agents: [agent, judge] });
  const page = await open(url);
  const chat = chatPage(page);
  await chat.say("Clean the disk");
  await chat.text("I may not.").waitFor();
  await chat.rested();
  for (const _ of ["watched", "reloaded"]) {
    await chat.questions.getByRole("button", { name: "wording (accept): edit, politeness" }).waitFor();
    await chat.calls.getByRole("button", { name: "wording (gate): deny, erasing is not allowed" }).waitFor();
    expect(await page.getByRole("button", { name: /^wording/ }).count()).toBe(2);
    const child = page.getByRole("button", { name: /^Agent judge/ });
    await child.click();
    await page.locator(".child-session p", { hasText: "Polite." }).waitFor();
    await page.reload();
  }
});

pageTest("a compaction shows where it was made, and opens to what the model reads in place of the messages", async ({ serve, open }) => {
  const provider = scripted(() => ({ text: "A long answer. ".repeat(40) }), { capabilities: { contextTokens: 900 } });
  const { url } = await serve({ agents: [createAgent({ name: "planner", provider, context: contextEngine() })] });
  const page = await open(url);
  const chat = chatPage(page);
  const line = page.getByRole("button", { name: /^Older messages were summarised for the model/ });
  for (const words of ["Plan a garden", "Trees?", "Herbs?", "Paths?", "Fences?", "Ponds?", "Sheds?", "Benches?"]) {
    await chat.say(words);
    await chat.questions.getByText(words, { exact: true }).waitFor();
    await chat.rested();
  }
  for (const state of ["watched", "reloaded"] as const) {
    await line.last().waitFor();
    expect(await line.last().textContent()).toMatch(/[\d,]+ tokens became [\d,]+/);
    await line.last().focus();
    await page.keyboard.press("Enter");
    await page.getByText("The messages above stay as they are.").waitFor();
    await page.locator(".verdict-details").getByText("Trees?").waitFor();
    expect(await axeProblems(page)).toEqual([]);
    await look(page, `compaction-${state}`);
    if (state === "watched") await page.reload();
  }
});

pageTest("B100: a picture that a tool made shows in the conversation without a click, also after a reload", async ({ serve, open }) => {
  const store = memoryStore();
  const provider = scripted([
    { calls: [{ name: "generate_image", args: { prompt: "A lighthouse at dusk", shape: "landscape" } }] },
    { text: "There it is." },
  ]);
  const tools = [generateImage({ generator: drawnImages(), blobs: store.blobs })];
  const { url } = await serve({ agents: [createAgent({ name: "painter", provider, tools })], store });
  const page = await open(url);
  const chat = chatPage(page);
  await chat.say("Paint a lighthouse");
  await chat.text("There it is.").waitFor();
  for (const state of ["watched", "reloaded"] as const) {
    const picture = page.getByRole("link", { name: "Open the picture" }).locator("img");
    await picture.waitFor();
    expect(await picture.getAttribute("alt")).toBe("A lighthouse at dusk");
    expect(await page.getByRole("link", { name: "Open the picture: A lighthouse at dusk" }).count()).toBe(1);
    await page.waitForFunction(() => document.querySelector<HTMLImageElement>(".call-pictures img")?.naturalWidth === 96);
    expect(await axeProblems(page)).toEqual([]);
    await look(page, `picture-${state}`);
    if (state === "watched") await page.reload();
  }
});

pageTest(
  "an answer that a hook replaces is at no moment shown as a failure, neither in the conversation nor in its run",
  async ({ serve, open }) => {
    const guard: Hooks = { name: "guard", decide: () => ({ answer: "I may not write about that." }) };
    const agent = createAgent({ name: "careful", provider: scripted([{ text: "The secret is 42." }]), hooks: [guard] });
    const { url } = await serve({ agents: [agent] });
    const page = await open(url);
    const chat = chatPage(page);
    // Everything that the page shows, for however short a time.
    await page.evaluate(() => {
      const seen: string[] = [];
      Object.assign(globalThis, { seen });
      new MutationObserver(() => void seen.push(document.body.textContent ?? "")).observe(document.body, {
        subtree: true,
        childList: true,
        characterData: true,
      });
    });
    await chat.say("What is the secret?");
    await chat.text("I may not write about that.").waitFor();
    await chat.rested();
    await page.getByRole("button", { name: "Show how this was made" }).click();
    const steps = page.getByRole("table", { name: "Steps of the run" });
    await steps.waitFor();
    expect(await steps.textContent()).not.toContain("failed");
    const seen = await page.evaluate(() => (globalThis as unknown as { seen: readonly string[] }).seen);
    expect(seen.length).toBeGreaterThan(0);
    expect(seen.filter((text) => /failed|could not finish|went wrong/i.test(text))).toEqual([]);
  },
);
