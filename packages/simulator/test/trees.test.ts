import { expect, it } from "vitest";
import { describeFailure, runSeeds } from "../src/index.ts";
import { treeAgent, treeModel } from "../src/people/tree-agent.ts";

const count = Number(process.env["LOOPWRIGHT_TREE_SEEDS"] ?? 6);

it("31: trees of agents three deep keep every promise under crashes, pauses and lost answers, from each seed", async () => {
  const { failures, figures } = await runSeeds({ from: 1, count, agent: treeAgent(), model: treeModel });
  expect(failures.map(describeFailure)).toEqual([]);
  expect(figures.crashes).toBeGreaterThan(10);
}, 300_000);
