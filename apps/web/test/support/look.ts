import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";

const folder = process.env["LOOPWRIGHT_SCREENSHOTS"];

/** Keeps a picture of the page in the folder that `LOOPWRIGHT_SCREENSHOTS` names; nothing without it. */
export async function look(page: Page, name: string): Promise<void> {
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), animations: "disabled" });
}
