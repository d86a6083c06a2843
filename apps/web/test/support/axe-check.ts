import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface AxeResults {
  readonly violations: readonly {
    readonly id: string;
    readonly help: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
  }[];
}

interface Axe {
  run(options: { readonly resultTypes: readonly string[] }): Promise<AxeResults>;
}

/** What axe finds wrong with the page as it is: WCAG 2.2 A and AA, and its best practices. */
export async function axeProblems(page: Page): Promise<readonly string[]> {
  // Colours are judged where they have arrived.
  await page.evaluate(() =>
    Promise.all(
      document
        .getAnimations()
        .filter(({ effect }) => effect?.getComputedTiming().iterations !== Number.POSITIVE_INFINITY)
        .map((animation) => animation.finished.catch(() => undefined)),
    ),
  );
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(source);
  // Every rule runs; only what is in order is not described.
  const { violations }: AxeResults = await page.evaluate(() =>
    (globalThis as unknown as { readonly axe: Axe }).axe.run({ resultTypes: ["violations"] }),
  );
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary = "" }) => `${id}: ${help}: ${html.slice(0, 200)} ${failureSummary}`),
  );
}
