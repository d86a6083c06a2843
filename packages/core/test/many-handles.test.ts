import { describe, expect, it } from "vitest";
import { simulateHandles } from "./many-handles.ts";
import { flawsOf } from "./many-handles-flaws.ts";

/** How many storms; each is one session. */
const seedCount = Number(process.env["LOOPWRIGHT_STORMS"] ?? 40);
const firstSeed = Number(process.env["LOOPWRIGHT_STORM"] ?? 1);

describe("several handles on one session", () => {
  it("lose nothing, double nothing and come to rest, whatever fails", async () => {
    let runs = 0;
    let deltas = 0;
    let decided = 0;
    for (let seed = firstSeed; seed < firstSeed + seedCount; seed++) {
      const outcome = await simulateHandles(seed);
      expect(flawsOf(outcome), `LOOPWRIGHT_STORM=${seed}`).toEqual([]);
      deltas += outcome.foreignDeltas;
      decided += outcome.facts.filter(({ type }) => type === "approval.decided").length;
      runs += outcome.facts.filter(({ type }) => type === "run.finished").length;
    }
    expect(runs).toBeGreaterThan(seedCount);
    expect(deltas).toBeGreaterThan(seedCount);
    expect(decided).toBeGreaterThan(seedCount / 4);
  });

  it.each([468, 1_241, 1_734])("give a reader that joins while tools run the whole answer after them (storm %i)", async (seed) => {
    expect(flawsOf(await simulateHandles(seed))).toEqual([]);
  });
});
