/* K6: nodes are stopped one after another, as a deploy does, while people talk. No person sees an error that a retry does not heal, and no run stands still. */
import { seededRandom } from "@loopwright/core/memory";
import type { GroundPlan } from "../world/ground.ts";
import { openStore } from "../world/open-store.ts";
import { type Crowd, gatherCrowd } from "./crowd/crowd.ts";
import { judgeCrowd, promiseFigures } from "./crowd/judge-crowd.ts";
import type { Experiment } from "./experiment.ts";
import { inWorld } from "./in-world.ts";

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

export function deployRoll({ ground, nodes, rolls, drainMs }: RollOptions): Experiment {
  return inWorld(
    { isTimed: true, name: `deploys-${ground.name}`, ground, nodes, leaseMs: 20_000, drainMs },
    async ({ world, seed, say }) => {
      const jobProfile = { tools: ["pay", "book", "read"] as const, turnsMax: 2, wordsMax: 150, gapMsMax: 8, toolMsMax: 100 };
      const crowd = await gatherCrowd({ world, sessions, random: seededRandom(seed + 1), jobProfile, watchers: [{}, {}] });
      let ended = 0;
      for (let roll = 1; roll <= rolls; roll++) {
        for (let index = 0; index < nodes; index++) {
          await new Promise((resolve) => setTimeout(resolve, 300));
          const old = world.nodes[index];
          old?.signal("SIGTERM");
          if ((await old?.ended) === 0) ended += 1;
          await world.start(index);
        }
        say(`${roll} of ${rolls} deploys`);
      }
      const judged = await judgeCrowd(world, crowd);
      const store = await openStore(world.store);
      const stalls = await stallsOf(store, crowd).finally(() => store.close());
      return {
        failures: judged.flaws,
        figures: [
          { name: "deploys", value: rolls },
          { name: "nodes that ended in order", value: ended, bound: { exactly: rolls * nodes } },
          { name: `silences in an open run of over ${stallMs} ms`, value: stalls, bound: { exactly: 0 } },
          ...promiseFigures(judged),
        ],
      };
    },
  );
}

async function stallsOf(store: Awaited<ReturnType<typeof openStore>>, { places }: Crowd): Promise<number> {
  let stalls = 0;
  for (const { id, tenant } of places) {
    const facts = await store.log.read({ scope: tenant.scope, session: id });
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
