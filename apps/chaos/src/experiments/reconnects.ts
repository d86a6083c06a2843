/* E1: watchers whose connection is cut at a random byte, again and again, each time coming back to any of three nodes. */
import { seededRandom } from "@loopwright/core/testing";
import type { GroundPlan } from "../world/ground.ts";
import { startWorld } from "../world/world.ts";
import { gatherCrowd } from "./crowd.ts";
import type { Experiment, Outcome } from "./experiment.ts";

export function reconnects({
  ground: plan,
  count,
  nodes,
}: {
  readonly ground: GroundPlan;
  readonly count: number;
  readonly nodes: number;
}): Experiment {
  const name = `reconnects-${plan.name}`;
  return {
    name,
    ...(plan.skip ? { skip: plan.skip } : {}),
    async run(seed, say): Promise<Outcome> {
      const ground = await plan.lay(seed);
      const world = await startWorld({ ground, nodes, leaseMs: 15_000 });
      try {
        const crowd = await gatherCrowd({
          world,
          sessions: 4,
          random: seededRandom(seed),
          taste: { tools: ["read", "pay", "ask"], turnsMax: 2, wordsMax: 400, gapMsMax: 3, toolMsMax: 40 },
          watchers: [{}, { cutAfterBytes: 3_000 }, { cutAfterBytes: 3_000 }, { cutAfterBytes: 8_000 }, { cutAfterBytes: 3_000, paceMs: 2 }],
        });
        let told = 0;
        while (crowd.reconnects < count) {
          await new Promise((resolve) => setTimeout(resolve, 100));
          if (crowd.reconnects >= told + 250) {
            told = crowd.reconnects;
            say(`${name}: ${told} of ${count}`);
          }
        }
        const judged = await crowd.judge();
        return {
          failures: judged.flaws,
          figures: [
            { name: "reconnects at a random byte", value: judged.reconnects, bound: { least: count } },
            { name: "nodes", value: nodes },
            { name: "answers whose deltas added up", value: judged.wholeTexts, bound: { least: 1 } },
            { name: "facts", value: judged.facts },
            {
              name: "recordings that differ from the log",
              value: judged.flaws.filter((flaw) => flaw.includes("I3:")).length,
              bound: { exactly: 0 },
            },
          ],
        };
      } finally {
        await world.close();
        await ground.close();
      }
    },
  };
}
