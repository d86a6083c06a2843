import { createAgent } from "@loopwright/core";
import { craftTool } from "@loopwright/tools-craft";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { axeProblems } from "./support/axe-check.ts";
import { chatPage } from "./support/chat-page.ts";
import { handModel } from "./support/hand-model.ts";
import { look } from "./support/look.ts";
import { pageTest } from "./support/page-test.ts";

async function sound(page: Page, name: string): Promise<void> {
  await look(page, name);
  expect(await axeProblems(page), name).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), `${name} scrolls sideways`).toBe(false);
}

pageTest(
  "B99: an artifact shows while it is written, opens with its versions, is copied, and is there after a reload",
  async ({ serve, open }) => {
    const model = handModel();
    const { url } = await serve({ agents: [createAgent({ name: "author", provider: model.provider, tools: [craftTool()] })] });
    const page = await open(url, { permissions: ["clipboard-read", "clipboard-write"] });
    const chat = chatPage(page);
    await chat.say("Write a greeting");
    const first = await model.next();
    const args = JSON.stringify({ title: "Greeting", kind: "code", language: "typescript", content: 'console.log("Hello");\n' });
    first.callInPieces("craft_tool", [args.slice(0, 80), args.slice(80)]);
    const line = page.getByRole("button", { name: /^Open the artifact Greeting/ });
    const pane = page.getByRole("complementary", { name: "Artifact" });
    first.piece();
    await line.click();
    await pane.getByText("Being written").waitFor();
    await pane.getByText("console.lo").waitFor();
    await look(page, "artifact-written");
    first.piece();
    first.end();
    const second = await model.next();
    second.call("craft_tool", { id: "artifact-1", edits: [{ find: "Hello", replace: "Good day" }] });
    second.end();
    const third = await model.next();
    third.call("craft_tool", { title: "Letter", content: "Dear **Anne**" });
    third.end();
    const last = await model.next();
    last.say("There they are.");
    last.end();
    await chat.rested();
    await page.getByRole("button", { name: "Close the artifact" }).click();
    for (const state of ["watched", "reloaded"] as const) {
      const lines = page.getByRole("button", { name: /^Open the artifact/ });
      await expect
        .poll(() => lines.allTextContents())
        .toEqual(["Open the artifact Greetingversion 1", "Open the artifact Greetingversion 2", "Open the artifact Letterversion 1"]);
      await lines.nth(1).focus();
      await page.keyboard.press("Enter");
      await pane.getByText("Version 2 of 2").waitFor();
      expect(await pane.textContent()).toContain('console.log("Good day");');
      await pane.getByRole("button", { name: "Earlier version" }).click();
      await pane.getByText("Version 1 of 2").waitFor();
      expect(await pane.textContent()).toContain('console.log("Hello");');
      expect(await pane.getByRole("button", { name: "Earlier version" }).isDisabled()).toBe(true);
      await pane.getByRole("button", { name: "Copy the artifact" }).click();
      expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('console.log("Hello");\n');
      await sound(page, `artifact-${state}`);
      await pane.getByRole("button", { name: "Letter" }).click();
      await pane.locator("strong", { hasText: "Anne" }).waitFor();
      await page.keyboard.press("Escape");
      await pane.waitFor({ state: "detached" });
      await expect.poll(() => page.evaluate(() => document.activeElement?.className)).toBe("artifact-line");
      if (state === "watched") await page.reload();
    }
    await page.emulateMedia({ colorScheme: "dark" });
    await page.setViewportSize({ width: 360, height: 740 });
    await page.getByRole("button", { name: /^Open the artifact Greeting\s*version 2/ }).click();
    await pane.getByText("Version 2 of 2").waitFor();
    await sound(page, "artifact-narrow-dark");
  },
);
