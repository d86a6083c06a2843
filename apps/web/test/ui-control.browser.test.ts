import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { axeProblems } from "./support/axe-check.ts";
import { look } from "./support/look.ts";
import { type PageScene, pageTest } from "./support/page-test.ts";

const program = fileURLToPath(new URL("../../../examples/ui-control/server.ts", import.meta.url));

/** The example, in a process of its own, as its reader starts it. */
async function product({ onEnd }: PageScene): Promise<string> {
  const child = spawn(process.execPath, ["--conditions=@loopwright/source", "--no-warnings", program], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, PORT: "0" },
  });
  onEnd(() => child.kill());
  for await (const line of createInterface({ input: child.stdout })) return line;
  throw new Error("The program ended before it listened.");
}

const steps = (page: Page): Promise<readonly string[]> =>
  page.getByRole("list", { name: "What the assistant does" }).getByRole("listitem").allTextContents();

pageTest(
  "A28: the agent looks at the page, selects a row, navigates, sets fields and clicks, while the user watches; what is the user's own is denied",
  async (scene) => {
    const page = await scene.open(await product(scene));
    await look(page, "ui-control-before");
    // The user sees each element at the moment in which the assistant works there.
    await page.evaluate(() => {
      const touched: string[] = [];
      Object.assign(window, { touched });
      new MutationObserver((changes) => {
        for (const { target } of changes)
          if (target instanceof HTMLElement && target.dataset["touched"] !== undefined)
            touched.push(target.getAttribute("name") ?? Object.values(target.dataset).join(""));
      }).observe(document.body, { subtree: true, attributes: true, attributeFilter: ["data-touched"] });
    });
    await page.getByRole("button", { name: "Ask" }).click();
    await page.getByText("Three roses for Ben in Bern are ready.").waitFor();
    await look(page, "ui-control-after");
    expect(await page.evaluate(() => (window as never as { readonly touched: readonly string[] }).touched)).toEqual([
      "Ben",
      "order",
      "city",
      "flower",
      "count",
      "Check",
    ]);
    expect(await steps(page)).toEqual([
      "Look at the page  (done)",
      "Select a row Ben (done)",
      "Open a module order (done)",
      "Fill in a field city: Bern (done)",
      "Fill in a field flower: rose (done)",
      "Fill in a field count: 3 (done)",
      expect.stringMatching(/^Fill in a field code: 1234 \(TOOL_DENIED.*The user types codes\./),
      "Click a button Check (done)",
      expect.stringMatching(/^Click a button Pay \(TOOL_DENIED.*The user pays\./),
    ]);
    expect(await page.locator("#state").textContent()).toBe("Ready: 3 rose for Ben in Bern.");
    expect(await page.getByLabel("Code of your card").inputValue()).toBe("");
    expect(await axeProblems(page)).toEqual([]);
  },
);

pageTest("A28: beside the page the agent answers with tools of the server alone, and touches nothing", async (scene) => {
  const page = await scene.open(await product(scene), { viewport: { width: 360, height: 740 }, colorScheme: "dark" });
  expect(await axeProblems(page)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)).toBe(false);
  await page.getByLabel("answer beside it").check();
  await page.getByRole("button", { name: "Ask" }).click();
  // The scripted model calls tools of the page all the same: they are not there.
  await page.getByText("Three roses").waitFor();
  await look(page, "ui-control-side-panel");
  expect((await steps(page)).every((line) => line.includes("TOOL_UNKNOWN"))).toBe(true);
  expect(await page.getByLabel("City").count()).toBe(1);
  expect(await page.locator("[data-touched]").count()).toBe(0);
});
