/* E1: watchers whose connection is cut at a random byte, again and again, each time coming back to any of the nodes. */
import { seededRandom } from "@loopwright/core/memory";
import type { GroundPlan } from "../world/ground.ts";
import { gatherCrowd } from "./crowd/crowd.ts";
import { judgeCrowd, promiseFigures } from "./crowd/judge-crowd.ts";
import type { Experiment } from "./experiment.ts";
import { inWorld } from "./in-world.ts";

export interface ReconnectOptions {
  readonly ground: GroundPlan;
  readonly count: number;
  readonly nodes: number;
}

export function reconnects({ ground, count, nodes }: ReconnectOptions): Experiment {
  return inWorld({ name: `reconnects-${ground.name}`, ground, nodes, leaseMs: 20_000 }, async ({ world, seed, say }) => {
    // Cut after 3,000 bytes on average. A reader that has a part of an answer gets a snapshot and the end, so the longest answer twice: shorter
    // connections would let no reader advance.
    const often = { cutAfterBytes: 3_000 };
    const crowd = await gatherCrowd({
      world,
      sessions: 4,
      random: seededRandom(seed),
      jobProfile: { tools: ["read", "pay", "sign", "ask"], turnsMax: 2, wordsMax: 200, gapMsMax: 3, toolMsMax: 40 },
      watchers: [{}, often, often, { cutAfterBytes: 8_000 }, { ...often, paceMs: 2 }],
    });
    for (let lastReported = 0; crowd.reconnects < count; await new Promise((resolve) => setTimeout(resolve, 100))) {
      if (crowd.reconnects < lastReported + 250) continue;
      lastReported = crowd.reconnects;
      say(`${lastReported} of ${count}`);
    }
    const judged = await judgeCrowd(world, crowd);
    const violations = judged.flaws.filter((flaw) => flaw.includes("I3:")).length;
    return {
      failures: judged.flaws,
      figures: [
        { name: "reconnects at a random byte", value: judged.counts.reconnects, bound: { least: count } },
        { name: "nodes", value: nodes },
        { name: "violations of I3: events lost, doubled, altered or out of order", value: violations, bound: { exactly: 0 } },
        ...promiseFigures(judged),
      ],
    };
  });
}
