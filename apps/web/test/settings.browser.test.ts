import type { BrowserContextOptions, Page } from "playwright-core";
import { expect } from "vitest";
import { axeProblems } from "./support/axe-check.ts";
import { chatPage, openedSession } from "./support/chat-page.ts";
import { handModel } from "./support/hand-model.ts";
import { look } from "./support/look.ts";
import { pageTest } from "./support/page-test.ts";

const looks: readonly { readonly name: string; readonly options: BrowserContextOptions }[] = [
  { name: "wide", options: { colorScheme: "light" } },
  { name: "wide-dark", options: { colorScheme: "dark" } },
  { name: "narrow", options: { colorScheme: "light", viewport: { width: 360, height: 740 } } },
  { name: "narrow-dark", options: { colorScheme: "dark", viewport: { width: 360, height: 740 }, hasTouch: true } },
];

async function sound(page: Page, name: string): Promise<void> {
  await look(page, name);
  expect(await axeProblems(page), name).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), `${name} scrolls sideways`).toBe(false);
}

for (const { name, options } of looks) {
  pageTest(`every section of the settings opens, and axe finds nothing wrong in it (${name})`, async ({ serve, open }) => {
    const { url } = await serve({ provider: handModel().provider });
    const page = await open(url, options);
    await page.goto(`${url}#/settings`);
    const list = page.getByRole("navigation", { name: "Settings" });
    const sections = await list.getByRole("link").allTextContents();
    expect(sections.length).toBeGreaterThan(2);
    await sound(page, `settings-${name}`);
    for (const section of sections) {
      await list.getByRole("link", { name: section, exact: true }).click();
      await page.getByRole("heading", { level: 2, name: section, exact: true }).waitFor();
      const place = page.getByRole("region", { name: section, exact: true });
      await place.getByRole("status").filter({ hasText: "Loading" }).waitFor({ state: "detached" });
      expect(await place.getByRole("alert").count(), section).toBe(0);
      await sound(page, `settings-${name}-${section.toLowerCase().replaceAll(" ", "-")}`);
      if (options.viewport) await page.getByRole("link", { name: "All settings" }).click();
    }
  });
}

pageTest("the settings go without a mouse: opened by a key, a section chosen and used, closed to where they came from", async (scene) => {
  const model = handModel();
  const { url } = await scene.serve({ provider: model.provider });
  const page = await scene.open(url, { colorScheme: "light" });
  const chat = chatPage(page);
  await chat.say("Hello");
  (await model.next()).end();
  const id = await openedSession(page);
  await chat.rested();
  const focused = (): Promise<string | undefined> => page.evaluate(() => document.activeElement?.textContent?.trim());
  await page.keyboard.press("Control+,");
  await expect.poll(focused).toBe("Appearance");
  expect(await page.title()).toBe("Settings · Loopwright");
  await page.keyboard.press("Enter");
  // The heading has the focus: what follows it is next.
  await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe("H2");
  expect(await page.title()).toBe("Appearance · Settings · Loopwright");
  await page.getByRole("region", { name: "Appearance" }).getByRole("radio", { name: /^Dark/ }).waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  expect(await page.evaluate(() => document.documentElement.dataset["theme"])).toBe("dark");
  await page.keyboard.press("Escape");
  await chat.rested();
  expect(await openedSession(page)).toBe(id);
});

pageTest("an address of a section that is not there shows the settings, and one that cannot be loaded says what to do", async (scene) => {
  const { url } = await scene.serve({ provider: handModel().provider });
  const page = await scene.open(url);
  await page.goto(`${url}#/settings/nothing-of-this-name`);
  await page.getByRole("heading", { level: 2, name: "Appearance" }).waitFor();
  scene.expectErrors(/Failed to load resource/);
  await page.route(/keyboard-section/, (route) => route.abort());
  await page.getByRole("navigation", { name: "Settings" }).getByRole("link", { name: "Keyboard" }).click();
  const alert = page.getByRole("region", { name: "Keyboard" }).getByRole("alert");
  expect(await alert.textContent()).toContain("Load the page again");
  await page.unroute(/keyboard-section/);
  await alert.getByRole("button", { name: "Load again" }).click();
  await page.getByRole("region", { name: "Keyboard" }).getByText("Send the message").waitFor();
});
