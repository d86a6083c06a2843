import { systemText } from "@loopwright/core";
import { scripted } from "@loopwright/core/memory";
import { expect } from "vitest";
import { axeProblems } from "./support/axe-check.ts";
import { chatPage } from "./support/chat-page.ts";
import { look } from "./support/look.ts";
import { pageTest } from "./support/page-test.ts";

/** Its answers depend on what a fork changes. */
const answers = () =>
  scripted(({ model, system }) => ({ text: `${model} answers, told: ${systemText(system) ?? "nothing"}` }), { model: "small-1" });

pageTest(
  "a conversation is forked at a question by keyboard, with another model and prompt, and compared with its source",
  async ({ serve, open }) => {
    const { url, client } = await serve({ provider: answers(), models: { demo: ["small-1", "large-2"] } });
    await client.execute("Which tree is the tallest?", { sessionId: "s1", context: {} }).result();
    await client.execute("And the oldest?", { sessionId: "s1" }).result();
    const page = await open(`${url}#/c/s1`, { colorScheme: "light" });
    const chat = chatPage(page);
    await chat.text("And the oldest?").waitFor();
    await chat.questions.last().getByRole("button", { name: "Fork the conversation here" }).focus();
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Fork the conversation" });
    const fork = dialog.getByRole("button", { name: "Fork", exact: true });
    await page.waitForFunction(() => document.activeElement?.textContent === "Fork");
    await look(page, "fork-light");
    expect(await axeProblems(page)).toEqual([]);
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Space");
    expect(await dialog.getByRole("checkbox", { name: "Have it answered at once" }).isChecked()).toBe(true);
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.type("Answer in rhymes.");
    await dialog.getByRole("combobox", { name: "Model" }).selectOption("large-2");
    await fork.press("Enter");
    await page.waitForURL((address) => !address.hash.endsWith("/s1"));
    await chat.text("large-2 answers, told: Answer in rhymes.").waitFor();
    await chat.rested();
    expect(await page.getByRole("combobox", { name: "Model" }).inputValue()).toContain("large-2");
    // What is written next is for the same model, and the source has not changed.
    await chat.say("And the widest?");
    await chat.text("And the widest?").waitFor();
    await expect.poll(async () => (await client.sessions.list()).sessions.length, { timeout: 20_000 }).toBe(2);
    expect((await client.sessions.get("s1")).messages).toHaveLength(4);
    await chat.rested();

    await page.getByRole("button", { name: "Actions for this conversation" }).press("Enter");
    await page.getByRole("menuitem", { name: "Compare with another" }).press("Enter");
    const comparison = page.getByRole("dialog", { name: "Compare conversations" });
    await comparison.getByText("The first 3 messages are equal. They differ at message 4.").waitFor();
    await comparison.getByRole("region", { name: "This conversation" }).getByText("large-2 answers, told: Answer in rhymes.").waitFor();
    await comparison
      .getByRole("region", { name: "Which tree is the tallest?" })
      .getByText(/^small-1 answers/)
      .waitFor();
    await look(page, "compare-light");
    expect(await axeProblems(page)).toEqual([]);
    await comparison.getByRole("link", { name: "Show it there" }).first().press("Enter");
    await comparison.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Actions for this conversation" }).press("Enter");
    await page.getByRole("menuitem", { name: "Compare with another" }).press("Enter");
    await comparison.getByRole("link", { name: "Show it there" }).last().press("Enter");
    await page.waitForURL((address) => address.hash.startsWith("#/c/s1/m/"));
  },
);

pageTest(
  "the dialogs of forks fit 360 pixels and the dark, and a prompt of a caller that is not trusted is refused in the dialog",
  async ({ serve, open, expectErrors }) => {
    expectErrors(/status of 403/);
    const authenticate = () => ({ user: "anne", scope: "local" });
    const { url, client } = await serve({ provider: answers(), authenticate });
    await client.execute("Which tree is the tallest?", { sessionId: "s1", context: {} }).result();
    await client.execute("Which tree is the oldest, by the rings of its trunk?", { sessionId: "s2", context: {} }).result();
    const page = await open(`${url}#/c/s1`, { colorScheme: "dark", viewport: { width: 360, height: 740 } });
    const chat = chatPage(page);
    await chat.answers.first().waitFor();
    await chat.answers.first().getByRole("button", { name: "Fork the conversation here" }).click();
    const dialog = page.getByRole("dialog", { name: "Fork the conversation" });
    // An answer has nothing that could be answered.
    await dialog.getByRole("button", { name: "Fork", exact: true }).waitFor();
    expect(await dialog.getByRole("checkbox").count()).toBe(0);
    await dialog.getByRole("textbox", { name: /^Prompt/ }).fill("Answer in rhymes.");
    await dialog.getByRole("button", { name: "Fork", exact: true }).click();
    await dialog.getByRole("alert").getByText("FORBIDDEN").waitFor();
    await look(page, "fork-narrow-dark");
    expect(await axeProblems(page)).toEqual([]);
    await page.keyboard.press("Escape");
    expect((await client.sessions.list()).sessions).toHaveLength(2);

    await page.getByRole("button", { name: "Actions for this conversation" }).click();
    await page.getByRole("menuitem", { name: "Compare with another" }).click();
    const comparison = page.getByRole("dialog", { name: "Compare conversations" });
    await comparison.getByText("They differ from the beginning.").waitFor();
    await look(page, "compare-narrow-dark");
    expect(await axeProblems(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true);
  },
);
