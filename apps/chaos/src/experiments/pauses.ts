/* W1, C2: a node is paused for 0.3 to 3.3 leases (SIGSTOP). Another one takes over after a lease, and the first one continues as if it still owned its sessions. */
import { seededRandom } from "@loopwright/core/memory";
import type { GroundPlan } from "../world/ground.ts";
import { gatherCrowd } from "./crowd/crowd.ts";
import { judgeCrowd, promiseFigures } from "./crowd/judge-crowd.ts";
import type { Experiment } from "./experiment.ts";
import { inWorld } from "./in-world.ts";

export function pauses({ ground, count }: { readonly ground: GroundPlan; readonly count: number }): Experiment {
  return inWorld({ name: `pauses-${ground.name}`, ground, nodes: 3, leaseMs: 1_000, sweepMs: 500 }, async ({ world, seed, say }) => {
    const random = seededRandom(seed);
    const jobProfile = { tools: ["pay", "book", "read", "sign"] as const, turnsMax: 2, wordsMax: 60, gapMsMax: 6, toolMsMax: 400 };
    const watchers = [{}, { cutAfterBytes: 20_000 }];
    const crowd = await gatherCrowd({ world, sessions: 12, random: seededRandom(seed + 1), jobProfile, watchers });
    for (let done = 1; done <= count; done++) {
      await new Promise((resolve) => setTimeout(resolve, 200 + random() * 500));
      const node = world.nodes[Math.floor(random() * world.nodes.length)];
      node?.signal("SIGSTOP");
      await new Promise((resolve) => setTimeout(resolve, 300 + random() * 3_000));
      node?.signal("SIGCONT");
      if (done % 10 === 0) say(`${done} of ${count}`);
    }
    const judged = await judgeCrowd(world, crowd);
    return { failures: judged.flaws, figures: [{ name: "pauses of 0.3 to 3.3 leases", value: count }, ...promiseFigures(judged)] };
  });
}
