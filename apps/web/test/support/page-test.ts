/*
 * Owns: a browser context per test, the output of its console, and everything that has to be closed when the test is over.
 * Invariants
 *  P1 a test fails on an unexpected error of the page: console, exceptions, violations of the content security policy;
 *  P2 nothing of one test is seen by the next: contexts, servers and stores are its own.
 */
import { existsSync } from "node:fs";
import { createClient, type LoopwrightClient } from "@loopwright/client";
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, expect, inject, it } from "vitest";
import { type ServePageOptions, servePage } from "../serve.ts";
import { chromiumPath, launchOptions } from "./launch-chromium.ts";

/** What a browser test has. */
export interface PageScene {
  /** A server of its own that hands out the page. */
  serve(options?: ServePageOptions): Promise<Served>;
  /** A context of its own, watched for errors. */
  context(options?: BrowserContextOptions): Promise<BrowserContext>;
  /** A page at this address in a context of its own. */
  open(url: string, options?: BrowserContextOptions): Promise<Page>;
  /** Errors of the console that belong to what is tested, for example requests of a server that is down. */
  expectErrors(pattern: RegExp): void;
  /** Run at the end, the last first. */
  onEnd(act: () => unknown): void;
}

/** A server for a test. */
export interface Served {
  readonly url: string;
  readonly client: LoopwrightClient;
}

/** How long the page may take for anything. */
const patienceMs = 10_000;

let browser: Promise<Browser> | undefined;

/** The browser of the run where there is one, else one of this file. */
function theBrowser(): Promise<Browser> {
  const address = inject("browserAddress");
  browser ??= address === undefined ? chromium.launch(launchOptions) : chromium.connect(address);
  return browser;
}

afterAll(async () => {
  await (await browser)?.close();
  browser = undefined;
});

/** Why nothing can be tested here. */
const missing =
  chromiumPath === undefined
    ? "There is no Chromium: install it, or name one in LOOPWRIGHT_CHROMIUM."
    : existsSync(new URL("../../dist/index.html", import.meta.url))
      ? undefined
      : "The page is not built: `npm run build`.";
if (missing !== undefined) console.warn(`The tests of the page in a browser are skipped. ${missing}`);

/** A test in a real browser of the built page. Skipped with a message where one of them is missing. */
export function pageTest(title: string, act: (scene: PageScene) => Promise<void>, timeoutMs = 60_000): void {
  it.skipIf(missing !== undefined)(title, { timeout: timeoutMs }, async () => {
    const errors: string[] = [];
    const expected: RegExp[] = [];
    const ends: (() => unknown)[] = [];
    try {
      await act(sceneOf({ errors, expected, ends }));
      expect(errors.filter((error) => !expected.some((pattern) => pattern.test(error)))).toEqual([]);
    } finally {
      for (const end of ends.toReversed()) await end();
    }
  });
}

interface Watched {
  readonly errors: string[];
  readonly expected: RegExp[];
  readonly ends: (() => unknown)[];
}

function sceneOf({ errors, expected, ends }: Watched): PageScene {
  const context: PageScene["context"] = async (options = {}) => {
    const made = await (await theBrowser()).newContext({ viewport: { width: 1200, height: 800 }, locale: "en-GB", ...options });
    ends.push(() => made.close());
    made.setDefaultTimeout(patienceMs);
    made.on("console", (message) => {
      if (message.type() === "error") errors.push(message.text());
    });
    made.on("weberror", (error) => errors.push(error.error().stack ?? String(error.error())));
    // The browser reports most violations as errors; those of a report-only policy and of styles set by scripts only here.
    await made.addInitScript(() => {
      addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) => {
        console.error(`Content security policy: ${violatedDirective} ${blockedURI}`);
      });
    });
    return made;
  };
  return {
    context,
    async open(url, options) {
      const page = await (await context(options)).newPage();
      await page.goto(url);
      // Drawn and listening: a page with a field for text or a token can be typed into.
      await page.getByRole("textbox").or(page.getByLabel("Access token")).or(page.getByRole("alert")).first().waitFor();
      return page;
    },
    async serve(options) {
      const listening = await servePage(options);
      ends.push(() => listening.close());
      const { url } = listening;
      return { url: `${url}/`, client: createClient({ url }) };
    },
    expectErrors: (pattern) => expected.push(pattern),
    onEnd: (act) => ends.push(act),
  };
}
