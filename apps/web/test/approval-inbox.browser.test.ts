import { createApprovals } from "@loopwright/approvals";
import { type Agent, createAgent, defineTool } from "@loopwright/core";
import type { BrowserContextOptions, Page } from "playwright-core";
import { expect } from "vitest";
import { axeProblems } from "./support/axe-check.ts";
import { chatPage, openedSession } from "./support/chat-page.ts";
import { type HandModel, handModel } from "./support/hand-model.ts";
import { look } from "./support/look.ts";
import { type PageScene, pageTest } from "./support/page-test.ts";

interface Scene {
  readonly page: Page;
  readonly model: HandModel;
  readonly ran: string[];
  /** A new conversation whose call asks to remove this file. */
  ask(path: string): Promise<string>;
}

async function scene({ serve, open }: PageScene, options: BrowserContextOptions = {}): Promise<Scene> {
  const model = handModel();
  const ran: string[] = [];
  const { hooks, memory } = createApprovals();
  const remove = defineTool({
    name: "remove_file",
    label: "Remove a file",
    description: "Removes a file.",
    parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
    approval: "It cannot be undone.",
    execute: ({ path = "" }: { readonly path?: string }) => `removed ${ran.push(path)}`,
  });
  const agent: Agent = createAgent({ name: "careful", provider: model.provider, tools: [remove], hooks: [hooks] });
  const { url } = await serve({ agents: [agent], approvals: memory });
  const page = await open(url, options);
  const chat = chatPage(page);
  return {
    ...{ page, model, ran },
    async ask(path) {
      await page.goto(`${url}#/`);
      await chat.say(`Tidy up ${path.split("/").at(-1)}`);
      const answer = await model.next();
      answer.call("remove_file", { path });
      answer.end();
      await chat.calls.getByRole("form").first().waitFor();
      return openedSession(page);
    },
  };
}

async function finish({ model }: Scene): Promise<void> {
  const next = await model.next();
  next.say("So be it.");
  next.end();
}

pageTest("what waits in all conversations is decided in one place, which follows what changes elsewhere", async (at) => {
  const made = await scene(at, { colorScheme: "light" });
  const { page, ran } = made;
  await made.ask("notes/a");
  await made.ask("notes/b");
  await page.getByRole("link", { name: "2 calls wait for you" }).click();
  const inbox = page.getByRole("list", { name: "Waiting for you" });
  await inbox.getByRole("listitem").nth(1).waitFor();
  expect(await inbox.getByRole("form").allTextContents()).toEqual([expect.stringContaining("notes/b"), expect.stringContaining("notes/a")]);
  await look(page, "inbox");
  expect(await axeProblems(page)).toEqual([]);
  await inbox.getByRole("button", { name: "Allow, 2 of 2" }).click();
  await finish(made);
  await inbox.getByRole("form").nth(1).waitFor({ state: "detached" });
  expect(ran).toEqual(["notes/a"]);
  await inbox.getByRole("textbox", { name: "Note, if you like" }).fill("Keep it.");
  await inbox.getByRole("button", { name: "Deny" }).click();
  const next = await made.model.next();
  expect(JSON.stringify(next.request.messages.at(-1))).toContain("Keep it.");
  next.end();
  await page.getByText("Nothing waits for a decision.").waitFor();
  await page.getByRole("link", { name: /calls? waits? for you$/ }).waitFor({ state: "detached" });
  expect(ran).toEqual(["notes/a"]);
});

pageTest("a decision that holds always covers what the form says, is listed as a rule, and can be revoked", async (at) => {
  const made = await scene(at, { colorScheme: "dark", viewport: { width: 360, height: 740 } });
  const { page, ran } = made;
  at.expectErrors(/400 \(Bad Request\)/);
  await made.ask("notes/old/a");
  const form = chatPage(page).calls.getByRole("form");
  await form.getByLabel("Holds for").selectOption("always");
  await form.getByLabel("where path is").selectOption({ label: "anything" });
  await form.getByText("One argument has to be narrower than anything.").waitFor();
  await form.getByRole("button", { name: "Allow" }).click();
  expect(await form.getByRole("alert").textContent()).toContain("it lets every argument through");
  await form.getByLabel("where path is").selectOption({ label: "anything in notes/" });
  await look(page, "inbox-remember");
  expect(await axeProblems(page)).toEqual([]);
  await form.getByRole("button", { name: "Allow" }).click();
  await finish(made);
  await chatPage(page).rested();
  // The next call below the folder needs no decision.
  await page.getByRole("textbox", { name: "Message" }).fill("And the other");
  await page.keyboard.press("Enter");
  const answer = await made.model.next();
  answer.call("remove_file", { path: "notes/b" });
  answer.end();
  await finish(made);
  await expect.poll(() => ran).toEqual(["notes/old/a", "notes/b"]);
  await page.goto(`${new URL(page.url()).origin}/#/settings/approvals`);
  const rules = page.getByRole("list", { name: "Always" });
  expect(await rules.getByRole("listitem").textContent()).toContain("anything in notes/");
  await look(page, "inbox-rules");
  await rules.getByRole("button", { name: "Revoke allow remove_file" }).click();
  await page.getByText("No decision holds for later calls in all conversations.").waitFor();
});

pageTest("arguments too long for the list are read to their end before the call can be allowed", async (at) => {
  const made = await scene(at);
  const { page, ran } = made;
  await made.ask(`${"long/".repeat(2_000)}end`);
  await page.goto(`${new URL(page.url()).origin}/#/settings/approvals`);
  const form = page.getByRole("list", { name: "Waiting for you" }).getByRole("form");
  await form.waitFor();
  expect(await form.getByRole("button", { name: "Allow" }).isEnabled()).toBe(false);
  const whole = form.getByRole("button", { name: /Show all/ });
  if ((await whole.count()) > 0) await whole.click();
  await form.getByRole("group").evaluate((pre) => void pre.scrollTo(0, pre.scrollHeight));
  await form.getByRole("button", { name: "Allow" }).click();
  await finish(made);
  await expect.poll(() => ran.length).toBe(1);
});
