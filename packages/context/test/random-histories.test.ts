import { describe, expect, it } from "vitest";
import { playRandomHistory } from "./random-histories.ts";

const rounds = Number(process.env["LOOPWRIGHT_HISTORIES"] ?? 60);
const only = process.env["LOOPWRIGHT_SEED"];

describe(`${rounds} random histories`, () => {
  it("keep the invariants: every request is valid and fits, compactions make it smaller, and no input is lost", async () => {
    const seeds = only === undefined ? Array.from({ length: rounds }, (_, seed) => seed + 1) : [Number(only)];
    const sums = { requests: 0, compactions: 0, joined: 0, cut: 0 };
    for (const seed of seeds) {
      const { flaws, ...played } = await playRandomHistory(seed);
      if (flaws.length > 0) expect.fail(`Seed ${seed} (LOOPWRIGHT_SEED=${seed} plays it again): ${flaws.slice(0, 5).join("; ")}.`);
      for (const name of Object.keys(sums) as (keyof typeof sums)[]) sums[name] += played[name];
    }
    if (only !== undefined) return;
    // The histories go through what the invariants are about.
    expect(sums.requests).toBeGreaterThan(rounds * 5);
    expect(sums.compactions).toBeGreaterThan(rounds / 2);
    expect(sums.joined).toBeGreaterThan(rounds / 4);
    expect(sums.cut).toBeGreaterThan(rounds / 2);
  }, 1_200_000);
});
