/* K6: nodes are told to end one after another, as a deploy does, while people talk. Nobody sees an error that a retry does not heal, and no run stands still. */
import { seededRandom } from "@loopwright/core/testing";
import type { GroundPlan } from "../world/ground.ts";
import { openStore } from "../world/open-store.ts";
import { startWorld } from "../world/world.ts";
import { gatherCrowd } from "./crowd.ts";
import type { Experiment, Outcome } from "./experiment.ts";

export interface RollOptions {
  readonly ground: GroundPlan;
  readonly nodes: number;
  readonly rolls: number;
  /** How long a run may end by itself. */
  readonly drainMs: number;
}

const sessions = 20;
/** A longer silence in an open run than any model or tool here is the reason for. */
const stallMs = 3_000;

export function deployRoll({ ground: plan, nodes, rolls, drainMs }: RollOptions): Experiment {
  const name = `deploys-${plan.name}`;
  return {
    name,
    ...(plan.skip ? { skip: plan.skip } : {}),
    async run(seed, say): Promise<Outcome> {
      const ground = await plan.lay(seed);
      const world = await startWorld({ ground, nodes, leaseMs: 15_000, drainMs });
      try {
        const taste = { tools: ["pay", "book", "read"] as const, turnsMax: 2, wordsMax: 150, gapMsMax: 8, toolMsMax: 100 };
        const crowd = await gatherCrowd({ world, sessions, random: seededRandom(seed + 1), taste, watchers: [{}, {}] });
        let ended = 0;
        for (let roll = 1; roll <= rolls; roll++) {
          for (let index = 0; index < nodes; index++) {
            await new Promise((resolve) => setTimeout(resolve, 300));
            const old = world.nodes[index];
            old?.signal("SIGTERM");
            const code = await old?.ended;
            if (code === 0) ended += 1;
            await world.start(index);
          }
          say(`${name}: ${roll} of ${rolls} deploys`);
        }
        const judged = await crowd.judge();
        const store = await openStore(world.store);
        const stalls = await stallsOf(store, sessions);
        await store.close();
        return {
          failures: judged.flaws,
          figures: [
            { name: "deploys", value: rolls },
            { name: "nodes that ended in order", value: ended, bound: { exactly: rolls * nodes } },
            { name: "acknowledged inputs", value: judged.inputs },
            { name: "acknowledged inputs lost", value: judged.lost, bound: { exactly: 0 } },
            { name: "inputs doubled", value: judged.doubled, bound: { exactly: 0 } },
            { name: "double starts of once tools", value: judged.doubleStarts, bound: { exactly: 0 } },
            { name: "calls in doubt", value: judged.inDoubt },
            { name: `silences in an open run of over ${stallMs} ms`, value: stalls, bound: { exactly: 0 } },
            { name: "reconnects of watchers", value: judged.reconnects },
          ],
        };
      } finally {
        await world.close();
        await ground.close();
      }
    },
  };
}

async function stallsOf(store: Awaited<ReturnType<typeof openStore>>, count: number): Promise<number> {
  let stalls = 0;
  for (let index = 0; index < count; index++) {
    const facts = await store.log.read({ scope: "local", session: `s${index}` });
    let isOpen = false;
    for (const [place, fact] of facts.entries()) {
      const before = facts[place - 1];
      if (isOpen && before && fact.at - before.at > stallMs) stalls += 1;
      if (fact.type === "run.started") isOpen = true;
      if (fact.type === "run.finished") isOpen = false;
    }
  }
  return stalls;
}
