import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { runPlantedBugs } from "../src/index.ts";
import { portFlaws } from "../src/planted/port-flaws.ts";
import { sourceFlaws } from "../src/planted/source-flaws.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
/** A search ends with its last seed; a machine that ten others keep busy may take its own time for them. */
const limitMs = 400_000;

it("at least 25 bugs can be planted", () => {
  const names = [...portFlaws, ...sourceFlaws].map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names.length).toBeGreaterThanOrEqual(25);
});

describe("a bug that is planted", () => {
  it.each([
    "an unknown outcome is taken for written",
    "the store leases a session",
    "keeps a part of a torn batch",
    "the store forgets batch ids",
    "the store is put back from a backup",
  ])("in a port is found: %s", async (name) => {
    const { bugs, missed } = await runPlantedBugs({ only: [name], seedsMax: 200, limitMs });
    expect(bugs).toHaveLength(1);
    expect(missed).toEqual([]);
  });

  it("that two owners meet in a race is found there without a seed", async () => {
    const { bugs } = await runPlantedBugs({ only: ["the store checks no epoch"], seedsMax: 0, limitMs });
    expect(bugs[0]?.finding).toContain("I9");
  });

  it("that gives a batch up before an outage is over is found where something ends as the outage begins", async () => {
    const { bugs } = await runPlantedBugs({ root, only: ["a batch is given up"], seedsMax: 1, limitMs });
    expect(bugs).toMatchObject([{ outage: expect.stringContaining("atMs"), finding: expect.stringMatching(/I4|I10/) }]);
  });

  it.each([
    ["a process starts another child", "I16", 4],
    ["a child is given up", "I16", 8],
    ["what a child spent", "I16", 1],
    ["a run that is read alone leaves out", "I3", 6],
    ["the end of a child in the background", "S5", 212],
  ])("in the children of agents is found by a seed of trees: %s", async (name, invariant, seed) => {
    const { bugs } = await runPlantedBugs({ root, only: [name], firstSeeds: [seed], seedsMax: 60, limitMs });
    expect(bugs).toMatchObject([{ kind: "source", seed: expect.any(Number), finding: expect.stringContaining(invariant) }]);
  });

  it("in the sources is found in a copy of them", async () => {
    const { bugs } = await runPlantedBugs({
      root,
      only: ["effects are launched before their intent"],
      firstSeeds: [1],
      seedsMax: 50,
      limitMs,
    });
    expect(bugs).toMatchObject([{ kind: "source", finding: expect.stringContaining("before its intent was in the log") }]);
  });
});
