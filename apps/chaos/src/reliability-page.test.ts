import { expect, it } from "vitest";
import { type KeptResult, reliabilityPage } from "./reliability-page.ts";

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

it("names the run at the top", () => {
  const page = reliabilityPage({ kills: kept(), pauses: kept() });
  expect(page).toContain("**Run**: tier `nightly`, seed 1, 2026-11-21, commit aaaaaaa.\n");
  expect(page).not.toContain("another commit");
  expect(page).toContain("at least 10: **missed**");
});

it("says of sections of another commit that they are", () => {
  const page = reliabilityPage({ deploys: kept({ commit: "bbbbbbb" }), kills: kept(), pauses: kept() });
  expect(page).toContain("commit aaaaaaa. 1 of the 3 sections are of other commits (bbbbbbb), and say so.");
  const [, deploys = "", kills = ""] = page.split("\n## ");
  expect([deploys.includes("another commit"), kills.includes("another commit")]).toEqual([true, false]);
});
