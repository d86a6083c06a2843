import { contextEngine } from "@loopwright/context";
import { agentTool, createAgent, defineTool } from "@loopwright/core";
import { fixedPrices, scripted } from "@loopwright/core/memory";
import { expect } from "vitest";
import { axeProblems } from "./support/axe-check.ts";
import { chatPage } from "./support/chat-page.ts";
import { look } from "./support/look.ts";
import { pageTest } from "./support/page-test.ts";

pageTest(
  "the usage of a conversation has a meter for each limit, the context, and what models are no longer sent",
  async ({ serve, open }) => {
    const prices = fixedPrices({ "scripted-1": { inputUsd: 10, outputUsd: 30 } });
    const report = defineTool({
      name: "report",
      description: "A report.",
      parameters: { type: "object" },
      replay: "pure",
      execute: () => "All is well. ".repeat(400),
    });
    const reader = createAgent({ name: "reader", provider: scripted([{ text: "Read.", usage: { input: 300, output: 10 } }]), prices });
    const answers = [
      { calls: [{ name: "report" }] },
      { calls: [{ name: "report" }] },
      { text: "All is well. ".repeat(40) },
      ...Array.from({ length: 5 }, () => ({ text: "A long answer. ".repeat(40) })),
      { calls: [{ name: "reader", args: { task: "Read." } }], usage: { input: 500, output: 20 } },
      { text: "Done.", usage: { input: 600, output: 5 } },
    ];
    const provider = scripted(answers, { capabilities: { contextTokens: 1_800 } });
    const agent = createAgent({
      name: "planner",
      provider,
      prices,
      tools: [report, agentTool({ agent: reader })],
      context: contextEngine(),
      limits: { tokensMax: 20_000, costUsdMax: 2, toolCallsMax: 8, turnsMax: 12 },
    });
    const { url } = await serve({ agents: [agent, reader] });
    const page = await open(url);
    const chat = chatPage(page);
    for (const words of ["How are things?", "Trees?", "Herbs?", "Paths?", "Fences?", "Ponds?", "Read it"]) {
      await chat.say(words);
      await chat.questions.getByText(words, { exact: true }).waitFor();
      await chat.rested();
    }
    const panel = page.getByRole("dialog", { name: "Usage of this conversation" });
    for (const state of ["watched", "reloaded"] as const) {
      await page.getByRole("button", { name: "Usage of this conversation" }).click();
      const left = panel.getByRole("list", { name: "Left out of the context" });
      await left.getByText(/Older messages summarised/).waitFor();
      await left
        .getByText(/shortened to fit the model's window/)
        .first()
        .waitFor();
      await panel.getByRole("meter", { name: "Use of the context" }).waitFor();
      const limits = panel.locator(".usage-more", { hasText: "Limits of the last answer" });
      // Two turns, one call, 520 and 605 tokens of its own, and 310 of the child.
      await expect.poll(() => limits.textContent()).toMatch(/Turns2 of 12Tool calls1 of 8Tokens1,435 of 20,000Cost\$0\.01\d* of \$2/);
      expect(
        await limits
          .getByRole("meter", { name: "Use of the limit: Tokens" })
          .evaluate((meter: HTMLMeterElement) => [meter.value, meter.max]),
      ).toEqual([1_435, 20_000]);
      await look(page, `meters-${state}`);
      expect(await axeProblems(page)).toEqual([]);
      await page.keyboard.press("Escape");
      if (state === "watched") await page.reload();
    }
    await page.emulateMedia({ colorScheme: "dark" });
    await page.setViewportSize({ width: 360, height: 640 });
    await page.getByRole("button", { name: "Usage of this conversation" }).click();
    await panel.getByText("Limits of the last answer").scrollIntoViewIfNeeded();
    await look(page, "meters-narrow-dark");
    expect(await axeProblems(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)).toBe(false);
  },
);
