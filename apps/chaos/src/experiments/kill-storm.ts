/* K1 to K5: nodes die by kill -9 while people talk, in tools, in waits and in recoveries; each is started again at once. */
import { seededRandom } from "@loopwright/core/memory";
import type { GroundPlan } from "../world/ground.ts";
import { gatherCrowd } from "./crowd/crowd.ts";
import { judgeCrowd, promiseFigures } from "./crowd/judge-crowd.ts";
import type { Experiment } from "./experiment.ts";
import { inWorld } from "./in-world.ts";
import { createNodeKiller } from "./node-killer.ts";

export interface StormOptions {
  readonly ground: GroundPlan;
  readonly nodes: number;
  readonly sessions: number;
  readonly kills: number;
  readonly leaseMs: number;
}

export function killStorm({ ground, nodes, sessions, kills, leaseMs }: StormOptions): Experiment {
  return inWorld({ name: `kills-${ground.name}`, ground, nodes, leaseMs, sweepMs: 500 }, async ({ world, seed, say }) => {
    const crowd = await gatherCrowd({
      world,
      sessions,
      random: seededRandom(seed + 1),
      jobProfile: {
        tools: ["pay", "book", "read", "sign", "ask"],
        turnsMax: 3,
        wordsMax: 60,
        gapMsMax: 6,
        toolMsMax: 120,
        abortShare: 0.08,
        steerShare: 0.08,
        interruptShare: 0.05,
      },
      watchers: [{}, { cutAfterBytes: 20_000 }],
    });
    let lastReported = 0;
    const {
      kills: died,
      aimed,
      flaws,
    } = await createNodeKiller(world, seededRandom(seed)).kill(kills, (count) => {
      if (count < lastReported + 25) return;
      lastReported = count;
      say(`${count} of ${kills} kills`);
    });
    const judged = await judgeCrowd(world, crowd);
    return {
      failures: [...flaws, ...judged.flaws],
      figures: [
        { name: "kills", value: died, bound: { least: kills } },
        { name: "kills aimed at a fact or a side effect", value: aimed },
        { name: "sessions at once", value: sessions },
        ...promiseFigures(judged),
      ],
    };
  });
}
