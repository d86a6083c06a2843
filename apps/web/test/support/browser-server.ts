import { chromium } from "playwright-core";
import type { TestProject } from "vitest/node";
import { chromiumPath, launchOptions } from "./launch-chromium.ts";

declare module "vitest" {
  export interface ProvidedContext {
    readonly browserAddress: string;
  }
}

/** One browser for all files of the run: each test has a context of its own in it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  if (chromiumPath === undefined) throw new Error("There is no Chromium. Install it, or name one in LOOPWRIGHT_CHROMIUM.");
  const server = await chromium.launchServer(launchOptions);
  project.provide("browserAddress", server.wsEndpoint());
  return () => server.close();
}
