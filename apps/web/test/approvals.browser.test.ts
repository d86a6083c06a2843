import { type Agent, agentTool, createAgent, defineTool } from "@loopwright/core";
import type { BrowserContextOptions, Page } from "playwright-core";
import { expect } from "vitest";
import { axeProblems } from "./support/axe-check.ts";
import { type ChatPage, chatPage } from "./support/chat-page.ts";
import { type HandModel, handModel } from "./support/hand-model.ts";
import { look } from "./support/look.ts";
import { type PageScene, pageTest } from "./support/page-test.ts";

interface AskedPage {
  readonly page: Page;
  readonly chat: ChatPage;
  readonly model: HandModel;
  readonly ran: readonly unknown[];
  readonly url: string;
}

function carefulAgent(model: HandModel, ran: unknown[]): Agent {
  const remove = defineTool({
    name: "remove_file",
    label: "Remove a file",
    description: "Removes a file.",
    parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
    execute: (args) => `removed ${ran.push(args)}`,
  });
  return createAgent({
    name: "careful",
    provider: model.provider,
    tools: [remove],
    hooks: [
      {
        name: "approve",
        gate: ({ call }) => ({ action: "ask", reason: `It cannot be undone${call.args["path"] === "b" ? ", ever" : ""}.` }),
      },
    ],
  });
}

/** A chat in which these files wait for approval to be removed. */
async function askedPage({ serve, open }: PageScene, paths: readonly string[], options: BrowserContextOptions = {}): Promise<AskedPage> {
  const model = handModel();
  const ran: unknown[] = [];
  const { url } = await serve({ agents: [carefulAgent(model, ran)] });
  const page = await open(url, options);
  const chat = chatPage(page);
  await chat.say("Tidy up");
  const answer = await model.next();
  answer.say("These can go.");
  for (const path of paths) answer.call("remove_file", { path });
  answer.end();
  await chat.calls
    .getByRole("form")
    .nth(paths.length - 1)
    .waitFor();
  return { page, chat, model, ran, url };
}

async function finish({ model, chat }: AskedPage): Promise<void> {
  const next = await model.next();
  next.say("So be it.");
  next.end();
  await chat.text("So be it.").waitFor();
  await chat.rested();
}

pageTest("a call that waits for approval shows what it would do, and runs once it is allowed", async (scene) => {
  const asked = await askedPage(scene, ["notes/old.md"]);
  const { chat, ran, page } = asked;
  const form = chat.calls.getByRole("form", { name: /^Run “Remove a file”\?\s+It cannot be undone\.$/ });
  expect(await form.textContent()).toContain('"path": "notes/old.md"');
  expect(ran).toEqual([]);
  await page.reload();
  await form.getByRole("button", { name: "Allow" }).click();
  await finish(asked);
  expect(ran).toEqual([{ path: "notes/old.md" }]);
  expect(await chat.calls.getByRole("form").count()).toBe(0);
  await chat.calls.getByRole("button", { name: /, done,/ }).waitFor();
});

pageTest("a denied call is told so, with the note that the model reads; all of it with the keyboard", async (scene) => {
  const asked = await askedPage(scene, ["a", "b"]);
  const { chat, ran, page, model } = asked;
  await chat.calls.nth(1).getByRole("button").first().focus();
  const focused = (): Promise<string> =>
    page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent ?? "");
  const seen: string[] = [];
  for (let step = 0; step < 5 && !seen.includes("Allow, Call 2 of 2"); step++) {
    await page.keyboard.press("Tab");
    seen.push(await focused());
  }
  expect(seen.slice(-3)).toEqual(["Note, if you like", "Deny, Call 2 of 2", "Allow, Call 2 of 2"]);
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.type("Keep it.");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await chat.calls
    .nth(1)
    .getByRole("button", { name: /denied/ })
    .waitFor();
  // The focus stays with the call.
  await page.waitForFunction(() => document.activeElement?.className === "call-head");
  expect(await chat.calls.getByRole("form").count()).toBe(1);
  await chat.calls.nth(0).getByRole("button", { name: "Allow" }).focus();
  await page.keyboard.press("Enter");
  const next = await model.next();
  expect(JSON.stringify(next.request.messages.at(-1))).toContain("Keep it.");
  next.end();
  await chat.rested();
  expect(ran).toEqual([{ path: "a" }]);
});

pageTest("a call is not allowed before the end of its arguments was in sight, by no key and no button", async (scene) => {
  const asked = await askedPage(scene, [`${"a long name ".repeat(3_000)}the end`]);
  const { chat, page, ran } = asked;
  const form = chat.calls.getByRole("form");
  const allow = form.getByRole("button", { name: "Allow" });
  const box = form.getByRole("group");
  const isAllowed = (): Promise<boolean> => allow.isEnabled();
  const scroll = (): Promise<void> => box.evaluate((pre) => void pre.scrollTo(0, pre.scrollHeight));
  expect(await isAllowed()).toBe(false);
  await form.getByText("Scroll to the end of the arguments").waitFor();
  await form.getByLabel("Note, if you like").press("Enter");
  // Only its beginning is there: its end is not that of the arguments.
  await scroll();
  await page.waitForFunction(() => (document.querySelector(".call-approval pre")?.scrollTop ?? 0) > 0);
  expect(await isAllowed()).toBe(false);
  await form.getByRole("button", { name: /^Show all/ }).click();
  expect(await isAllowed()).toBe(false);
  await scroll();
  await form.locator("button.primary:enabled").waitFor();
  expect(await box.evaluate((pre) => pre.scrollWidth > pre.clientWidth)).toBe(false);
  expect(ran).toEqual([]);
  await allow.click();
  await finish(asked);
  expect(ran).toHaveLength(1);
});

pageTest("M07: hosts that may be others than they look like are marked where a call waits for approval", async (scene) => {
  const { chat, page } = await askedPage(scene, ["https://\u0430pple.com/login and https://bank.example@evil.example", "b"]);
  const hosts = chat.calls.nth(0).getByRole("list", { name: "Doubtful hosts" }).getByRole("listitem");
  expect(await hosts.allTextContents()).toEqual([
    "\u0430pple.com mixes letters of several alphabets: the host is xn--pple-43d.com.",
    "bank.example@evil.example only begins like a host: the host is evil.example.",
  ]);
  expect(await chat.calls.nth(1).getByRole("list", { name: "Doubtful hosts" }).count()).toBe(0);
  await look(page, "approval-hosts");
  expect(await axeProblems(page)).toEqual([]);
});

pageTest("a decision that comes second is told of the first one", async (scene) => {
  const asked = await askedPage(scene, ["a"]);
  const { page, chat, url, ran } = asked;
  scene.expectErrors(/409/);
  const deny = async (href: string): Promise<void> => {
    const headers = { "Content-Type": "application/json", Origin: new URL(url).origin };
    await fetch(href, { method: "POST", headers, body: JSON.stringify({ decision: "deny" }) });
  };
  await page.route("**/approvals/**", (route) => deny(route.request().url()).then(() => route.continue()), { times: 1 });
  await chat.calls.getByRole("button", { name: "Allow" }).click();
  await finish(asked);
  expect(ran).toEqual([]);
  await chat.calls.getByRole("button", { name: /denied/ }).waitFor();
});

for (const [name, options] of [
  ["light", { colorScheme: "light" }],
  ["dark", { colorScheme: "dark" }],
  ["narrow", { colorScheme: "light", viewport: { width: 360, height: 740 } }],
] as const)
  pageTest(`axe finds nothing wrong where a call waits for approval (${name})`, async (scene) => {
    const { page, chat } = await askedPage(scene, ["notes/a-file-with-quite-a-long-name-that-has-to-be-cut.md", "b"], options);
    await look(page, `approval-${name}`);
    expect(await axeProblems(page)).toEqual([]);
    await chat.calls.first().getByRole("button").first().click();
    await look(page, `approval-${name}-open`);
    expect(await axeProblems(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth)).toBe(false);
  });

pageTest("equal calls that wait for approval at once have names of their own, for their forms and their buttons", async (scene) => {
  const { chat, page } = await askedPage(scene, ["a", "a"]);
  for (const order of ["Call 1 of 2", "Call 2 of 2"]) {
    const form = page.getByRole("form", { name: new RegExp(`^Run “Remove a file”\\?\\s+It cannot be undone\\.\\s+${order}$`) });
    expect(await form.count(), order).toBe(1);
    expect(await form.getByText(order, { exact: true }).isVisible()).toBe(true);
    for (const name of [`Allow, ${order}`, `Deny, ${order}`])
      expect(await page.getByRole("button", { name, exact: true }).count(), name).toBe(1);
  }
  await page.getByRole("button", { name: "Deny, Call 2 of 2", exact: true }).click();
  await chat.calls
    .nth(1)
    .getByRole("button", { name: /denied/ })
    .waitFor();
  expect(await page.getByRole("form", { name: /Call 1 of 2$/ }).count()).toBe(1);
});

pageTest("an approval of a child two levels below is shown with the call of its parent, and decided there (B44)", async (scene) => {
  const model = handModel();
  const ran: unknown[] = [];
  const worker = carefulAgent(model, ran);
  const middle = createAgent({ name: "middle", provider: model.provider, tools: [agentTool({ agent: worker })] });
  const lead = createAgent({ name: "lead", provider: model.provider, tools: [agentTool({ agent: middle })] });
  const { url } = await scene.serve({ agents: [lead] });
  const page = await scene.open(url);
  const chat = chatPage(page);
  await chat.say("Tidy up");
  for (const name of ["middle", "careful"]) {
    const answer = await model.next();
    answer.call(name, { task: "Tidy up." });
    answer.end();
  }
  const asks = await model.next();
  asks.call("remove_file", { path: "notes/old.md" });
  asks.end();
  const form = chat.calls.getByRole("form", { name: /^Run “remove_file”\?\s+It cannot be undone\.$/ });
  await form.waitFor();
  await chat.calls.getByText("The agent “careful” asks.").waitFor();
  expect(await axeProblems(page)).toEqual([]);
  await look(page, "approval-of-a-child");
  await page.reload();
  await form.getByRole("button", { name: "Allow" }).click();
  for (let level = 0; level < 3; level++) {
    const next = await model.next();
    next.say(level === 2 ? "All is tidy." : "Done.");
    next.end();
  }
  await chat.text("All is tidy.").waitFor();
  await chat.rested();
  expect(ran).toEqual([{ path: "notes/old.md" }]);
  expect(await chat.calls.getByRole("form").count()).toBe(0);
});
