/* W1, C2: a node is stopped for longer than its lease (SIGSTOP), another takes over, and the first one wakes up and believes that nothing happened. */
import { seededRandom } from "@loopwright/core/testing";
import type { GroundPlan } from "../world/ground.ts";
import { startWorld } from "../world/world.ts";
import { gatherCrowd } from "./crowd.ts";
import type { Experiment, Outcome } from "./experiment.ts";

export function pauses({ ground: plan, count }: { readonly ground: GroundPlan; readonly count: number }): Experiment {
  const name = `pauses-${plan.name}`;
  return {
    name,
    ...(plan.skip ? { skip: plan.skip } : {}),
    async run(seed, say): Promise<Outcome> {
      const random = seededRandom(seed);
      const ground = await plan.lay(seed);
      const world = await startWorld({ ground, nodes: 3, leaseMs: 1_000, sweepMs: 500 });
      try {
        const taste = { tools: ["pay", "book", "read"] as const, turnsMax: 2, wordsMax: 60, gapMsMax: 6, toolMsMax: 400 };
        const crowd = await gatherCrowd({
          world,
          sessions: 12,
          random: seededRandom(seed + 1),
          taste,
          watchers: [{}, { cutAfterBytes: 20_000 }],
        });
        for (let done = 1; done <= count; done++) {
          await new Promise((resolve) => setTimeout(resolve, 200 + random() * 500));
          const node = world.nodes[Math.floor(random() * world.nodes.length)];
          node?.signal("SIGSTOP");
          await new Promise((resolve) => setTimeout(resolve, 300 + random() * 3_000));
          node?.signal("SIGCONT");
          if (done % 10 === 0) say(`${name}: ${done} of ${count}`);
        }
        const judged = await crowd.judge();
        return {
          failures: judged.flaws,
          figures: [
            { name: "pauses, up to three leases long", value: count },
            { name: "acknowledged inputs", value: judged.inputs },
            { name: "acknowledged inputs lost", value: judged.lost, bound: { exactly: 0 } },
            { name: "inputs doubled", value: judged.doubled, bound: { exactly: 0 } },
            { name: "double starts of once tools", value: judged.doubleStarts, bound: { exactly: 0 } },
            { name: "calls in doubt", value: judged.inDoubt },
            { name: "calls in doubt that were reported", value: judged.inDoubtReported, bound: { exactly: judged.inDoubt } },
          ],
        };
      } finally {
        await world.close();
        await ground.close();
      }
    },
  };
}
