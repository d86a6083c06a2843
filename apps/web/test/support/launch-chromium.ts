import { existsSync } from "node:fs";
import type { LaunchOptions } from "playwright-core";

const named = process.env["LOOPWRIGHT_CHROMIUM"];

/** Where Chromium is, the shell of it first, which opens a page in less than half of the CPU time; undefined where there is none. */
export const chromiumPath: string | undefined = [named, "/usr/bin/chromium-headless-shell", "/usr/bin/chromium"].find(
  (path) => path !== undefined && existsSync(path),
);

/** How the tests start it: without anything that asks the network. */
export const launchOptions: LaunchOptions = {
  ...(chromiumPath === undefined ? {} : { executablePath: chromiumPath }),
  args: [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
  ],
};
