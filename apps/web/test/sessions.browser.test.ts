import { text } from "node:stream/consumers";
import type { Message } from "@loopwright/core";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { chatPage } from "./support/chat-page.ts";
import { handModel } from "./support/hand-model.ts";
import { pageTest, type Served } from "./support/page-test.ts";

async function conversations({ client }: Served, titles: readonly string[]): Promise<void> {
  for (const [place, title] of titles.entries()) {
    const messages: readonly Message[] = [
      { role: "user", content: `A question about ${title}` },
      { role: "assistant", content: [{ type: "text", text: `Words on **${title}**` }], stopReason: "stop" },
    ];
    await client.sessions.create({ id: `s${place}`, title, context: { messages } });
  }
}

const list = (page: Page): ReturnType<Page["getByRole"]> => page.getByRole("navigation", { name: "Conversations" });

async function choose(page: Page, title: string, item: string): Promise<void> {
  await list(page).getByRole("link", { name: title }).hover();
  await list(page)
    .getByRole("button", { name: `Actions for ${title}` })
    .click();
  await page.getByRole("menuitem", { name: item }).click();
}

pageTest("the list shows the newest conversations first, and the search finds words in them", async ({ serve, open }) => {
  const served = await serve({ provider: handModel().provider });
  await conversations(served, ["Apples", "Pears", "Plums"]);
  const page = await open(served.url);
  await list(page).getByRole("link", { name: "Plums" }).waitFor();
  expect(await list(page).locator(".session-title").allTextContents()).toEqual(["Plums", "Pears", "Apples"]);
  await page.getByRole("searchbox", { name: "Search conversations" }).fill("pears");
  await list(page).getByText("1 conversation", { exact: true }).waitFor();
  expect(await list(page).locator(".session-title").allTextContents()).toEqual(["Pears"]);
  await list(page).getByRole("link", { name: "Pears" }).click();
  await chatPage(page).text("A question about Pears").waitFor();
  await page.getByRole("searchbox").fill("nothing like it");
  await list(page).getByText("Nothing found for").waitFor();
  await page.getByRole("searchbox").press("Escape");
  await list(page).getByRole("link", { name: "Apples" }).waitFor();
});

pageTest("a conversation is renamed in the list and above it, and Escape leaves the old name", async ({ serve, open }) => {
  const served = await serve({ provider: handModel().provider });
  await conversations(served, ["Apples", "Pears"]);
  const page = await open(`${served.url}#/c/s0`);
  await page.getByRole("heading", { name: "Apples" }).waitFor();
  const field = page.getByRole("textbox", { name: "Title of the conversation" });
  await choose(page, "Apples", "Rename");
  expect(await field.inputValue()).toBe("Apples");
  await field.fill("Cider");
  await field.press("Enter");
  await page.getByRole("heading", { name: "Cider" }).waitFor();
  await list(page).getByRole("link", { name: "Cider" }).waitFor();
  expect((await served.client.sessions.get("s0")).title).toBe("Cider");
  await page.getByRole("button", { name: "Actions for this conversation" }).click();
  await page.getByRole("menuitem", { name: "Rename" }).click();
  await field.fill("Never");
  await field.press("Escape");
  await page.getByRole("heading", { name: "Cider" }).waitFor();
  expect((await served.client.sessions.get("s0")).title).toBe("Cider");
});

pageTest("deleting asks first, and then the conversation is gone for good", async ({ serve, open }) => {
  const served = await serve({ provider: handModel().provider });
  await conversations(served, ["Apples", "Pears"]);
  const page = await open(`${served.url}#/c/s1`);
  const dialog = page.getByRole("dialog", { name: "Delete this conversation?" });
  await choose(page, "Pears", "Delete");
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await dialog.waitFor({ state: "detached" });
  await choose(page, "Pears", "Delete");
  await dialog.getByRole("button", { name: "Delete" }).click();
  await page.getByText("What shall we work on?").waitFor();
  await page.getByText("Conversation deleted").waitFor();
  await list(page).getByRole("link", { name: "Pears" }).waitFor({ state: "detached" });
  await expect(served.client.sessions.get("s1")).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
  expect((await served.client.sessions.get("s0")).title).toBe("Apples");
});

pageTest("a conversation is exported as Markdown and as JSON, with all it holds", async ({ serve, open }) => {
  const served = await serve({ provider: handModel().provider });
  await conversations(served, ["Green Apples"]);
  const page = await open(`${served.url}#/c/s0`);
  const exported = async (item: string): Promise<{ readonly name: string; readonly text: string }> => {
    const [download] = await Promise.all([page.waitForEvent("download"), choose(page, "Green Apples", item)]);
    return { name: download.suggestedFilename(), text: await text(await download.createReadStream()) };
  };
  const markdown = await exported("Export as Markdown");
  expect(markdown.name).toBe("green-apples.md");
  expect(markdown.text).toContain("# Green Apples");
  expect(markdown.text).toContain("## User\n\nA question about Green Apples");
  expect(markdown.text).toContain("## Assistant\n\nWords on **Green Apples**");
  const json = await exported("Export as JSON");
  expect(json.name).toBe("green-apples.json");
  expect(JSON.parse(json.text)).toMatchObject({ version: 1, session: await served.client.sessions.get("s0") });
});

pageTest("a conversation is forked at a message, and continues without changing its source", async ({ serve, open }) => {
  const model = handModel();
  const served = await serve({ provider: model.provider });
  await conversations(served, ["Green Apples"]);
  const page = await open(`${served.url}#/c/s0`);
  const chat = chatPage(page);
  await page.getByRole("button", { name: "Fork the conversation here" }).last().click();
  await page.getByRole("dialog").getByRole("button", { name: "Fork", exact: true }).click();
  await page.waitForURL((url) => !url.hash.endsWith("/s0"));
  await page.getByText("This is a fork").first().waitFor();
  await chat.say("And pears?");
  const answer = await model.next();
  answer.say("Pears too");
  answer.end();
  await chat.text("Pears too").waitFor();
  expect(await chat.questions.count()).toBe(2);
  const { messages } = await served.client.sessions.get("s0");
  expect(messages).toHaveLength(2);
});

pageTest(
  "a conversation that answers elsewhere shows it in the list, and one made elsewhere comes up by itself",
  async ({ serve, open }) => {
    const model = handModel();
    const served = await serve({ provider: model.provider });
    const page = await open(served.url);
    await list(page).getByText("Your conversations will be listed here.").waitFor();
    await served.client.sessions.create({ id: "far", title: "From afar" });
    await list(page).getByRole("link", { name: "From afar" }).waitFor();
    await served.client.sessions.submit("far", "Hello");
    const answer = await model.next();
    await list(page)
      .getByRole("link", { name: /From afar\s?, answering/ })
      .waitFor();
    answer.end();
    await list(page).getByRole("link", { name: "From afar", exact: true }).waitFor();
  },
);
