/* T1: parents with three children and grandchildren, one of them in the background and one that asks a person, while nodes die by kill -9. */
import { seededRandom } from "@loopwright/core/memory";
import type { GroundPlan } from "../world/ground.ts";
import type { NodeFlaw } from "../world/node-settings.ts";
import { gatherCrowd } from "./crowd/crowd.ts";
import { judgeCrowd, promiseFigures } from "./crowd/judge-crowd.ts";
import type { Experiment } from "./experiment.ts";
import { inWorld } from "./in-world.ts";
import { createNodeKiller, deadlyToChildren } from "./node-killer.ts";

export interface TreesOptions {
  readonly ground: GroundPlan;
  readonly sessions: number;
  readonly kills: number;
  readonly flaw?: NodeFlaw;
}

const world = { nodes: 3, leaseMs: 1_000, sweepMs: 500 };

export function trees({ ground, sessions, kills, flaw }: TreesOptions): Experiment {
  return inWorld({ ...world, name: `trees-${ground.name}`, ground, flaw }, async ({ world, seed }) => {
    const crowd = await gatherCrowd({
      ...{ world, sessions, random: seededRandom(seed + 1) },
      jobProfile: { tools: [], turnsMax: 0, wordsMax: 0, gapMsMax: 0, toolMsMax: 0, hasChildren: true, abortShare: 0.3 },
      watchers: [{ cutAfterBytes: 20_000 }],
    });
    const {
      kills: died,
      aimed,
      flaws,
    } = await createNodeKiller(world, seededRandom(seed), { points: deadlyToChildren }).kill(kills, () => {});
    const judged = await judgeCrowd(world, crowd);
    return {
      failures: [...flaws, ...judged.flaws],
      figures: [
        { name: "kills", value: died, bound: { least: kills } },
        { name: "kills aimed at a fact or a side effect", value: aimed },
        { name: "sessions at once", value: sessions },
        { name: "children", value: judged.counts.children, bound: { least: 3 } },
        { name: "children whose sums were compared", value: judged.counts.sums, bound: { least: 1 } },
        { name: "reports of children in the background", value: judged.counts.reports, bound: { least: 1 } },
        ...promiseFigures(judged),
      ],
    };
  });
}
