import { expect, it } from "vitest";
import { describeFailure, runSeeds } from "../src/index.ts";

/** Always the same ones here, more in `npm run long-tests`; nightly runs try others. */
const firstSeed = Number(process.env["LOOPWRIGHT_SEED"] ?? 1);
const seedCount = Number(process.env["LOOPWRIGHT_SEEDS"] ?? 36) / 4;

it.each(Array.from({ length: 4 }, (_, part) => firstSeed + part * seedCount))(
  `in the storms of ${seedCount} seeds from %d on every promise is kept`,
  async (from) => {
    const { failures, figures, count } = await runSeeds({ from, count: seedCount });
    expect(failures.map(describeFailure)).toEqual([]);
    expect(count).toBe(seedCount);
    // A storm that does nothing would keep every promise too.
    expect(figures.runs).toBeGreaterThan(seedCount * 5);
    expect(figures.crashes).toBeGreaterThan(seedCount / 2);
    expect(figures.toolStarts).toBeGreaterThan(seedCount * 2);
    expect(figures.evictions).toBeGreaterThan(seedCount * 3);
    expect(figures.firings).toBeGreaterThan(0);
    expect(figures.handOvers).toBeGreaterThan(seedCount / 10);
  },
);
