import { scripted } from "@loopwright/core/memory";
import { expect } from "vitest";
import { axeProblems } from "./support/axe-check.ts";
import { chatPage } from "./support/chat-page.ts";
import { look } from "./support/look.ts";
import { pageTest } from "./support/page-test.ts";

pageTest(
  "what is sent to a conversation later is set, shown and removed, and an expression that cannot be used is named",
  async ({ serve, open, expectErrors }) => {
    const { url, client } = await serve({ provider: scripted(() => ({ text: "Nothing new." })) });
    // The expression below.
    expectErrors(/status of 400/);
    await client.sessions.create({ id: "s1", title: "News" });
    await client.sessions.schedule("s1", "soon", { input: "Hello.", at: Date.now() + 1_000 });
    const page = await open(`${url}#/c/s1`, { colorScheme: "light", viewport: { width: 1_000, height: 900 } });
    await chatPage(page).text("Nothing new.").waitFor();
    await page.getByRole("button", { name: "Actions for this conversation" }).click();
    await page.getByRole("menuitem", { name: "Schedules" }).click();
    const dialog = page.getByRole("dialog", { name: "Schedules" });
    await dialog.getByText("Nothing is sent to this conversation later.").waitFor();

    await dialog.getByText("What was sent").click();
    await dialog.getByRole("list", { name: "What was sent" }).getByText("soon").waitFor();
    await dialog.getByRole("link", { name: "answered" }).waitFor();

    await dialog.getByRole("textbox", { name: "Name" }).fill("daily");
    await dialog.getByRole("textbox", { name: "What is sent" }).fill("Any news?");
    await page.keyboard.press("Tab");
    await dialog.getByRole("button", { name: "Set" }).click();
    const row = dialog.getByRole("list", { name: "Schedules" }).getByRole("listitem");
    await row.getByText("every day").waitFor();
    expect(await client.sessions.schedules("s1")).toMatchObject([
      { name: "daily", everyMs: 86_400_000, message: { content: "Any news?" } },
    ]);
    await look(page, "schedules");
    expect(await axeProblems(page)).toEqual([]);

    await dialog.getByRole("textbox", { name: "Name" }).fill("weekdays");
    await dialog.getByRole("textbox", { name: "What is sent" }).fill("Good morning.");
    await dialog.getByRole("combobox", { name: "When" }).selectOption("By a cron expression");
    await dialog.getByRole("textbox", { name: /^Expression/ }).fill("never");
    await dialog.getByRole("button", { name: "Set" }).click();
    await dialog.getByRole("alert").getByText("INPUT_INVALID").waitFor();

    await dialog.getByRole("button", { name: "Remove the schedule daily" }).click();
    await dialog.getByText("Nothing is sent to this conversation later.").waitFor();
    expect(await client.sessions.schedules("s1")).toEqual([]);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Actions for this conversation" }).waitFor();
    expect(await dialog.count()).toBe(0);
  },
);
