import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { type KeptResult, pageOf, reliabilityPage, sectionsIn } from "./reliability-page.ts";

const kept = (changes: Partial<KeptResult> = {}): KeptResult => ({
  tier: "nightly",
  seed: 1,
  date: "2026-11-21",
  commit: "aaaaaaa",
  node: "v26.10.0",
  seconds: 3,
  figures: [{ name: "kills", value: 5, bound: { least: 10 } }],
  failures: [],
  ...changes,
});

/** The page after these results came one after another. */
function pageWith(results: { readonly [name: string]: KeptResult }, before = ""): string {
  return Object.entries(results).reduce((page, [name, result]) => reliabilityPage(page, name, result), before);
}

it("names the run at the top", () => {
  const page = pageWith({ pauses: kept(), kills: kept() });
  expect(page).toContain("**Run**: tier `nightly`, seed 1, 2026-11-21, commit aaaaaaa.\n");
  expect(page).not.toContain("another commit");
  expect(page).toContain("at least 10: **missed**");
  expect(page.indexOf("## kills")).toBeLessThan(page.indexOf("## pauses"));
});

it("marks sections of another commit", () => {
  const page = pageWith({ deploys: kept({ commit: "bbbbbbb" }), kills: kept(), pauses: kept() });
  expect(page).toContain("commit aaaaaaa. 1 of the 3 sections are of other commits (bbbbbbb), and are marked so.");
  const [, deploys = "", kills = ""] = page.split("\n## ");
  expect([deploys.includes("another commit"), kills.includes("another commit")]).toEqual([true, false]);
});

it("a result takes the place of the older one of its experiment, and the page alone keeps all others", () => {
  const before = pageWith({ deploys: kept({ failures: ["`a`\n## no section"] }), kills: kept() });
  const after = pageWith({ kills: kept({ commit: "bbbbbbb", figures: [{ name: "kills", value: 12, bound: { least: 10 } }] }) }, before);
  expect(after).toContain("| kills | 12 | at least 10 |");
  expect(after).toContain("1 failures, the first: `'a' ## no section`");
  expect(after.match(/^## .+$/gm)).toEqual(["## deploys", "## kills"]);
  expect(pageWith({ kills: kept() }, after)).toBe(before);
});

it("the page of this repository can be taken on from", () => {
  const page = readFileSync(new URL("../../../docs/reliability.md", import.meta.url), "utf8");
  expect(pageOf(sectionsIn(page))).toBe(page);
});
