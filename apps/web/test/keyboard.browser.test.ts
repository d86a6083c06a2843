import type { Page } from "playwright-core";
import { expect } from "vitest";
import { chatPage } from "./support/chat-page.ts";
import { handModel } from "./support/hand-model.ts";
import { pageTest } from "./support/page-test.ts";

/** What has the focus, as a screen reader would name it. */
const focused = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const element = document.activeElement;
    return element?.getAttribute("aria-label") ?? element?.textContent?.trim() ?? "";
  });

/** Presses Tab until that has the focus. */
async function tabTo(page: Page, name: RegExp, key = "Tab"): Promise<void> {
  for (let step = 0; step < 60; step++) {
    if (name.test(await focused(page))) return;
    await page.keyboard.press(key);
  }
  throw new Error(`No ${String(name)} among 60 stops; the last was: ${await focused(page)}`);
}

pageTest(
  "a whole chat goes without a mouse: write, stop, tools, edit, branches, run view, rename, export menu, delete",
  async ({ serve, open }) => {
    const model = handModel();
    const { url } = await serve({ provider: model.provider });
    const page = await open(url);
    const mouse = await page.evaluateHandle(() => {
      const seen: string[] = [];
      for (const type of ["pointerdown", "mousedown", "touchstart"]) addEventListener(type, () => seen.push(type), true);
      return seen;
    });
    const chat = chatPage(page);
    const { keyboard } = page;
    await expect.poll(() => focused(page)).toBe("Message");
    await keyboard.type("Write of");
    await keyboard.press("Shift+Enter");
    await keyboard.type("cats");
    await keyboard.press("Enter");
    const first = await model.next();
    expect(first.request.messages[0]).toMatchObject({ content: "Write of\ncats" });
    first.say("Cats sleep all");
    await chat.text("Cats sleep all").waitFor();
    await keyboard.press("Escape");
    await chat.text("Stopped here").waitFor();
    await chat.rested();

    // Steered by the keyboard alone.
    await keyboard.type("Multiply");
    await keyboard.press("Enter");
    const second = await model.next();
    second.say("I look.");
    await chat.text("I look.").waitFor();
    await keyboard.type("Only the number");
    await keyboard.press("Control+Enter");
    await page.getByRole("list", { name: "Waiting messages" }).getByText("Joins").waitFor();
    second.call("calculate", { expression: "6 * 7" });
    second.end();
    const third = await model.next();
    third.say("42");
    third.end();
    await chat.rested();

    // Into the conversation: the call opens, the question is edited, the other branch comes back.
    await tabTo(page, /^Calculate/i, "Shift+Tab");
    await keyboard.press("Enter");
    await chat.calls.getByText("Arguments").waitFor();
    await tabTo(page, /^Edit message$/, "Shift+Tab");
    await keyboard.press("Enter");
    await expect.poll(() => focused(page)).toBe("Edit message");
    await keyboard.press("Control+A");
    await keyboard.type("Divide");
    await keyboard.press("Enter");
    const fourth = await model.next();
    fourth.say("Six.");
    fourth.end();
    await chat.text("Six.").waitFor();
    await chat.rested();
    await keyboard.press("/");
    await expect.poll(() => focused(page)).toBe("Message");
    await tabTo(page, /^Previous version$/, "Shift+Tab");
    await keyboard.press("Enter");
    await chat.answers.getByText("42", { exact: true }).last().waitFor();

    // The run view and back: the focus is where it was.
    await keyboard.press("Control+Shift+E");
    await page.getByRole("table", { name: "Steps of the run" }).waitFor();
    await expect.poll(() => focused(page)).toBe("How this answer was made");
    await keyboard.press("Escape");
    await page.getByRole("table", { name: "Steps of the run" }).waitFor({ state: "detached" });

    await keyboard.press("F2");
    await expect.poll(() => focused(page)).toBe("Title of the conversation");
    await keyboard.type("Cats and numbers");
    await keyboard.press("Enter");
    await page.getByRole("heading", { name: "Cats and numbers" }).waitFor();

    await keyboard.press("Control+k");
    await expect.poll(() => focused(page)).toBe("Search conversations");
    await keyboard.type("cats");
    // The list as it was has the conversation too: what the search found takes its place, and the focus would go with it.
    await page.getByText("1 conversation", { exact: true }).waitFor();
    await tabTo(page, /^Cats and numbers/);
    await keyboard.press("ArrowDown");
    await tabTo(page, /^Actions for Cats and numbers$/);
    await keyboard.press("Enter");
    await expect.poll(() => focused(page)).toBe("Rename");
    await keyboard.press("ArrowUp");
    await expect.poll(() => focused(page)).toBe("Delete");
    await keyboard.press("Enter");
    await expect.poll(() => focused(page)).toBe("Cancel");
    await keyboard.press("Tab");
    await keyboard.press("Enter");
    await page.getByText("What shall we work on?").waitFor();
    expect(await mouse.jsonValue()).toEqual([]);
  },
);

pageTest("the question mark lists all keys, and each of them does what the list says", async ({ serve, open }) => {
  const { url, client } = await serve({ provider: handModel().provider });
  for (const id of ["one", "two"]) await client.sessions.create({ id, title: `The ${id}` });
  const page = await open(url);
  const chat = chatPage(page);
  const { keyboard } = page;
  await page.getByRole("link", { name: "The two" }).waitFor();
  await chat.field.fill("");
  await keyboard.type("?");
  expect(await chat.field.inputValue()).toBe("?");
  await chat.field.fill("");
  await chat.field.blur();
  await keyboard.press("?");
  const dialog = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  await dialog.waitFor();
  expect(await dialog.locator("dt").count()).toBeGreaterThan(12);
  await keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await keyboard.press("Alt+ArrowDown");
  await page.getByRole("heading", { name: "The two" }).waitFor();
  await keyboard.press("Alt+ArrowDown");
  await page.getByRole("heading", { name: "The one" }).waitFor();
  await keyboard.press("Alt+ArrowUp");
  await page.getByRole("heading", { name: "The two" }).waitFor();
  await keyboard.press("Control+b");
  await page.getByRole("button", { name: "Show conversations" }).waitFor();
  await keyboard.press("Control+b");
  await page.getByRole("button", { name: "Hide conversations" }).press("Enter");
  await expect.poll(() => focused(page)).toBe("Show conversations");
  await keyboard.press("Enter");
  await expect.poll(() => focused(page)).toBe("Hide conversations");
  await keyboard.press("Control+Shift+M");
  await expect.poll(() => focused(page)).toBe("Model");
  await keyboard.press("Control+Shift+L");
  expect(await page.evaluate(() => document.documentElement.dataset["theme"])).toBe("light");
  await keyboard.press("Control+Shift+O");
  await page.getByText("What shall we work on?").waitFor();
  await expect.poll(() => focused(page)).toBe("Message");
  // The list stays where it is, and the same key finds the field again.
  expect(await page.getByRole("button", { name: "Hide conversations" }).isVisible()).toBe(true);
  await page.getByRole("button", { name: "Keyboard shortcuts" }).focus();
  await keyboard.press("n");
  await expect.poll(() => focused(page)).toBe("Message");
});

pageTest("dialogs and menus keep the focus inside and give it back to where it came from", async ({ serve, open }) => {
  const { url, client } = await serve({ provider: handModel().provider });
  await client.sessions.create({ id: "one", title: "The one" });
  const page = await open(`${url}#/c/one`);
  const { keyboard } = page;
  await page.getByRole("heading", { name: "The one" }).waitFor();
  await page.getByRole("button", { name: "Keyboard shortcuts" }).focus();
  await keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  for (let step = 0; step < 6; step++) {
    await keyboard.press("Tab");
    const isOutside = await page.evaluate(() => document.activeElement !== document.body && !document.activeElement?.closest("dialog"));
    expect(isOutside).toBe(false);
  }
  await keyboard.press("Escape");
  await expect.poll(() => focused(page)).toBe("Keyboard shortcuts");

  const actions = page.getByRole("button", { name: "Actions for this conversation" });
  await actions.focus();
  await keyboard.press("Enter");
  await expect.poll(() => focused(page)).toBe("Rename");
  await keyboard.press("End");
  await expect.poll(() => focused(page)).toBe("Delete");
  await keyboard.press("Escape");
  await expect.poll(() => focused(page)).toBe("Actions for this conversation");
  await keyboard.press("Enter");
  await keyboard.press("End");
  await keyboard.press("Enter");
  await expect.poll(() => focused(page)).toBe("Cancel");
  await keyboard.press("Escape");
  await expect.poll(() => focused(page)).toBe("Actions for this conversation");
  await keyboard.press("Enter");
  await keyboard.press("Home");
  await keyboard.press("Enter");
  await expect.poll(() => focused(page)).toBe("Title of the conversation");
  await keyboard.press("Escape");

  // With a mouse: a second click closes the menu.
  const menu = page.getByRole("menu", { name: "Actions for this conversation" });
  await actions.click();
  await menu.waitFor();
  await actions.click();
  await menu.waitFor({ state: "hidden" });
  await actions.click();
  await menu.waitFor();
});

pageTest(
  "Tab goes through the page in the order in which it is read, and everything it reaches shows that it has the focus",
  async ({ serve, open }) => {
    const { url, client } = await serve({ provider: handModel().provider });
    await client.sessions.create({ id: "one", title: "The one" });
    const page = await open(url);
    await page.getByRole("link", { name: "The one" }).waitFor();
    await page.getByRole("button", { name: "Skip to the message field" }).focus();
    const order: string[] = [];
    for (let step = 0; step < 13; step++) {
      if (step > 0) await page.keyboard.press("Tab");
      const name = await focused(page);
      if (order.includes(name)) break;
      order.push(name);
      const isShown = await page.evaluate(() => {
        const element = document.activeElement;
        if (!element) return false;
        const wearers = [element, element.parentElement, element.closest(".composer-box, label, .search")];
        return wearers.some((wearer) => {
          if (!wearer) return false;
          const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(wearer);
          return (outlineStyle !== "none" && Number.parseFloat(outlineWidth) > 0) || boxShadow !== "none";
        });
      });
      expect(isShown, `focus on ${name}`).toBe(true);
    }
    expect(order).toEqual([
      "Skip to the message field",
      "Loopwright",
      "Hide conversations",
      "New conversation",
      "Search conversations",
      "The one",
      "Actions for The one",
      "As the system",
      "Keyboard shortcuts",
      "Settings",
      "Message",
      "Attach files",
      "Model",
    ]);
  },
);

pageTest("what a screen reader hears: finished sentences once, the end of a stop, and notices", async ({ serve, open }) => {
  const model = handModel();
  const { url } = await serve({ provider: model.provider });
  const page = await open(url);
  const chat = chatPage(page);
  await chat.say("Tell me");
  const answer = await model.next();
  const received = await page.evaluateHandle(() => {
    const words: string[] = [];
    const look = (): void => {
      const now = document.querySelector("p[aria-live=polite]")?.textContent ?? "";
      if (now !== "" && words.at(-1) !== now) words.push(now);
    };
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
    return words;
  });
  await openedAndEmpty(page);
  answer.say("The **first** sentence. The sec");
  await chat.text("The sec").waitFor();
  await expect.poll(() => received.jsonValue()).toEqual(["The first sentence."]);
  answer.say("ond one. And a half");
  await chat.text("And a half").waitFor();
  await expect.poll(() => received.jsonValue()).toEqual(["The first sentence.", "The second one."]);
  await chat.stop.click();
  await chat.rested();
  await expect.poll(async () => (await received.jsonValue()).at(-1)).toBe("Stopped.");
});

/** The conversation is followed: new events arrive. */
async function openedAndEmpty(page: Page): Promise<void> {
  await chatPage(page).questions.first().waitFor();
}
