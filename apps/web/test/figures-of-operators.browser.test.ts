import { createAgent, defineTool } from "@loopwright/core";
import { fixedPrices, manualClock, scripted } from "@loopwright/core/memory";
import {
  cacheRoute,
  cacheWatch,
  latencyEvents,
  latencyRoute,
  memoryEvents,
  memoryUsage,
  quotasRoute,
  turnObserver,
  usageObserver,
  usageRoute,
} from "@loopwright/telemetry";
import type { BrowserContextOptions, Page } from "playwright-core";
import { expect } from "vitest";
import { axeProblems } from "./support/axe-check.ts";
import { look } from "./support/look.ts";
import { type PageScene, pageTest } from "./support/page-test.ts";

const looks: readonly { readonly name: string; readonly options: BrowserContextOptions }[] = [
  { name: "wide", options: { colorScheme: "light" } },
  { name: "narrow-dark", options: { colorScheme: "dark", viewport: { width: 360, height: 740 }, hasTouch: true } },
];

/** A server with telemetry, on which a conversation has had three runs: the last one with another prompt. */
async function scene({ serve, open }: PageScene, options: BrowserContextOptions) {
  const events = memoryEvents();
  const usage = memoryUsage();
  const prices = fixedPrices({ small: { inputUsd: 10, outputUsd: 50, cacheReadUsd: 1 } });
  const cache = cacheWatch({ events, prices });
  let turn = 0;
  const provider = cache.watch(
    scripted(
      () => {
        turn += 1;
        if (turn === 1) return { text: "I look.", calls: [{ name: "look" }], usage: { input: 5_000, output: 20 } };
        return { text: "A door.", usage: { input: turn === 4 ? 5_400 : 100, cacheRead: turn === 4 ? 0 : 5_000, output: 20 } };
      },
      { model: "small" },
    ),
  );
  const tool = defineTool({
    name: "look",
    description: "Looks.",
    parameters: { type: "object" },
    replay: "pure",
    execute: () => "A door.",
  });
  const prompt = () => (turn >= 3 ? "Be brief. It is 12:01." : "Be brief.");
  const limits = { "user/local/local": { tokens: 20_000, per: "day" as const }, "scope/local": { costUsd: 1 } };
  const ledger = {
    spent: async (account: string) => (account.startsWith("user/") ? { tokens: 19_000, costUsd: 0 } : { tokens: 0, costUsd: 0.25 }),
  };
  const clock = manualClock(Date.parse("2026-11-24T12:00:00Z"));
  const { url, client } = await serve({
    agents: [createAgent({ name: "helper", provider, prices, prompt, tools: [tool] })],
    observers: [turnObserver({ onTurn: latencyEvents(events), firstByteOf: cache.firstByteOf }), usageObserver({ usage }), cache.observer],
    routes: [
      usageRoute({ usage }),
      latencyRoute({ events, reachOf: () => "scope" }),
      cacheRoute({ events }),
      quotasRoute({ ledger, limits, clock }),
    ],
  });
  for (const text of ["What is there?", "And now?", "And then?"])
    await client.execute(text, { sessionId: "kitchen", context: {} }).result();
  const page = await open(url, options);
  return { url, page };
}

async function sound(page: Page, name: string): Promise<void> {
  await look(page, name);
  expect(await axeProblems(page), name).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), `${name} scrolls sideways`).toBe(false);
}

for (const { name, options } of looks) {
  pageTest(`usage and cost by day, model and user, and what is left of limits, are shown (${name})`, async (at) => {
    const { url, page } = await scene(at, options);
    await page.goto(`${url}#/settings/usage`);
    const table = page.getByRole("table", { name: "Usage and cost" });
    await table.getByRole("row").nth(1).waitFor();
    // 5,000 + 100 + 100 + 5,400 read at full price, 10,000 from the cache, 80 written.
    expect(await page.getByRole("definition").allTextContents()).toEqual(["$0.120", "20.7K tokens", "4"]);
    expect(await table.getByRole("row").nth(1).textContent()).toContain(new Date().toISOString().slice(0, 10));
    await page.getByLabel("Shown").selectOption("by model");
    await table.getByRole("rowheader", { name: "small" }).waitFor();
    const limits = page.getByRole("list", { name: "Limits" });
    expect(await limits.getByRole("heading").allTextContents()).toEqual(["You, each day", "Your team"]);
    expect(await limits.getByRole("listitem").first().textContent()).toContain(
      "19K tokens of 20K tokens spent or reserved, 1K tokens left",
    );
    await sound(page, `usage-${name}`);
    await page.getByLabel("Shown").selectOption("by user");
    await table.getByRole("rowheader", { name: "local" }).waitFor();
  });

  pageTest(`A49, A50, A51: latency of the last 60 minutes is shown by model and by tool (${name})`, async (at) => {
    const { url, page } = await scene(at, options);
    await page.goto(`${url}#/settings/latency`);
    const model = page.getByRole("table", { name: "Latency of small" });
    await model.waitFor();
    expect(await model.getByRole("rowheader").allTextContents()).toEqual(["First piece", "Whole turn"]);
    expect(await model.getByRole("columnheader").allTextContents()).toEqual(["Time", "p50", "p95", "p99"]);
    expect(await page.getByRole("list", { name: "Models" }).textContent()).toContain(
      "4 turns, 48.5 % of the prompt from the vendor's cache",
    );
    const tools = page.getByRole("table", { name: "Tools that the server ran" });
    expect(await tools.getByRole("row").nth(1).textContent()).toMatch(/^look1\d+ ms\d+ ms0 %$/);
    await sound(page, `latency-${name}`);
  });

  pageTest(`what broke the vendor's cache is named, with the money lost, call by call (${name})`, async (at) => {
    const { url, page } = await scene(at, options);
    await page.goto(`${url}#/settings/cache`);
    const calls = page.getByRole("list", { name: "Calls of the model, the newest first" });
    await calls.getByRole("listitem").nth(3).waitFor();
    const texts = await calls.getByRole("listitem").allTextContents();
    expect(texts[0]).toMatch(/Broken by a change.*First difference: system 1 \(agent\).*0 of 5,100 repeatable tokens.*lost: \$0\.046/);
    expect(texts[1]).toContain("Read from the cache");
    expect(texts[3]).toContain("The first call");
    await sound(page, `cache-${name}`);
  });
}

pageTest(
  "a server without telemetry offers no section of figures, and one without quotas shows usage without limits",
  async ({ serve, open }) => {
    const plain = await serve({ provider: scripted(() => ({ text: "Hello." })) });
    const page = await open(plain.url);
    await page.goto(`${plain.url}#/settings`);
    const list = page.getByRole("navigation", { name: "Settings" });
    await list.getByRole("link", { name: "Keyboard" }).waitFor();
    for (const name of ["Usage and cost", "Latency", "Vendor cache"]) expect(await list.getByRole("link", { name }).count()).toBe(0);
    const counted = await serve({ provider: scripted(() => ({ text: "Hello." })), routes: [usageRoute({ usage: memoryUsage() })] });
    const other = await open(counted.url);
    await other.goto(`${counted.url}#/settings/usage`);
    await other.getByText("Nothing was spent in this time.").waitFor();
    expect(await other.getByRole("heading", { name: "Limits" }).count()).toBe(0);
    expect(await axeProblems(other)).toEqual([]);
  },
);
