import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { type Browser, type CDPSession, chromium, type JSHandle, type Page } from "playwright-core";
import { createPageScene, deltaEveryMs, type PageScene, pageFolder } from "./page-scene.ts";

/** What rounds measured, one value a round. */
export interface PageResults {
  /** Milliseconds from the address to the first thing drawn, with nothing kept. */
  readonly firstPaintMs: readonly number[];
  /** Milliseconds of the main thread for each frame in which an answer grew, by the messages of the session. */
  readonly frameMs: { readonly [messages: string]: readonly number[] };
}

export const shortSession = 10;
export const longSession = 2_000;

/** The first deltas warm up what is compiled while it runs. */
const warmupDeltas = 50;
const measuredDeltas = 200;

const browserPath = process.env["LOOPWRIGHT_CHROMIUM"] ?? "/usr/bin/chromium";
const browserFlags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"];

/** The page in Chromium, `rounds` times. */
export async function measurePage(rounds: number): Promise<PageResults> {
  const scene = await createPageScene();
  const browser = await chromium.launch({ executablePath: browserPath, args: browserFlags });
  const firstPaintMs: number[] = [];
  const short: number[] = [];
  const long: number[] = [];
  try {
    for (let round = 0; round < rounds; round++) {
      firstPaintMs.push(await firstPaint(browser, scene));
      short.push(await stream(browser, scene, shortSession));
      long.push(await stream(browser, scene, longSession));
    }
  } finally {
    await browser.close();
    await scene.close();
  }
  return { firstPaintMs, frameMs: { [shortSession]: short, [longSession]: long } };
}

async function inNewPage<T>(browser: Browser, act: (page: Page) => Promise<T>): Promise<T> {
  const context = await browser.newContext({ viewport: { width: 1200, height: 800 } });
  try {
    return await act(await context.newPage());
  } finally {
    await context.close();
  }
}

function firstPaint(browser: Browser, { url }: PageScene): Promise<number> {
  return inNewPage(browser, async (page) => {
    await page.goto(url);
    const painted = await page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime);
    return (await painted.jsonValue()) ?? Number.NaN;
  });
}

/** Runs in the page: one call of the observer for each change of the answer, of which there is at most one in a frame. */
const countFrames = `(() => {
  const counted = { count: 0 };
  const observer = new MutationObserver(() => { counted.count += 1; });
  observer.observe(document.querySelector("[role=log]"), { subtree: true, childList: true, characterData: true });
  return counted;
})()`;

/** An answer of 50 deltas a second: the busy time of the main thread, by the frames in which it changed what is shown. */
function stream(browser: Browser, scene: PageScene, messages: number): Promise<number> {
  return inNewPage(browser, async (page) => {
    const address = await scene.session(messages);
    await page.goto(address);
    await page.getByRole("article").last().waitFor();
    const devtools = await page.context().newCDPSession(page);
    await devtools.send("Performance.enable");
    const frames: JSHandle<{ readonly count: number }> = await page.evaluateHandle(countFrames);
    await scene.answer(address, warmupDeltas + measuredDeltas);
    await page.locator("[data-live]").waitFor();
    await page.waitForTimeout(warmupDeltas * deltaEveryMs);
    const before = { busyMs: await busyMs(devtools), frames: (await frames.jsonValue()).count };
    await page.waitForTimeout(measuredDeltas * deltaEveryMs * 0.8);
    const after = { busyMs: await busyMs(devtools), frames: (await frames.jsonValue()).count };
    await page.locator("[data-live]").waitFor({ state: "detached" });
    const grown = after.frames - before.frames;
    if (grown < measuredDeltas / 4) throw new Error(`The answer grew in ${grown} frames only.`);
    return (after.busyMs - before.busyMs) / grown;
  });
}

async function busyMs(devtools: CDPSession): Promise<number> {
  const { metrics } = await devtools.send("Performance.getMetrics");
  return (metrics.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN) * 1_000;
}

/** Kilobytes that travel before the page can be used, and all that it ever loads; compressed as servers do. */
export function bundleKb(): { readonly initial: number; readonly all: number } {
  const start = readFileSync(join(pageFolder, "index.html"), "utf8");
  const sizeKb = (file: string): number => gzipSync(readFileSync(join(pageFolder, file)), { level: 9 }).byteLength / 1_000;
  const files = readdirSync(pageFolder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(pageFolder.length + 1));
  const sum = (some: readonly string[]): number => some.reduce((total, file) => total + sizeKb(file), 0);
  return { initial: sum(files.filter((file) => file === "index.html" || start.includes(file))), all: sum(files) };
}
