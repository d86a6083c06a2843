/* How soon the model's connection is closed after somebody asked to stop, on the node that runs it and on another. */

import type { GroundPlan } from "../world/ground.ts";
import { textOfJob } from "../world/job.ts";
import { post } from "../world/post.ts";
import { startWorld } from "../world/world.ts";
import { type Experiment, type Outcome, percentile } from "./experiment.ts";

const bounds = { owner: 250, other: 1_000 };
const leaseMs = 15_000;

export function stopQuickly({ ground: plan, samples }: { readonly ground: GroundPlan; readonly samples: number }): Experiment {
  return {
    name: `abort-${plan.name}`,
    ...(plan.skip ? { skip: plan.skip } : {}),
    async run(seed): Promise<Outcome> {
      const ground = await plan.lay(seed);
      const world = await startWorld({ ground, nodes: 2, leaseMs });
      const urlOf =
        (index: number): (() => string) =>
        () =>
          `http://127.0.0.1:${world.nodes[index]?.port}`;
      const failures: string[] = [];
      try {
        const measure = async (where: "owner" | "other"): Promise<readonly number[]> => {
          const times: number[] = [];
          for (let done = 0; done < samples; done++) {
            const id = `${where}${done}`;
            await post({ pick: urlOf(0), path: "/api/sessions", body: { id }, key: `open-${id}` });
            const job = { id, turns: [{ words: 3_000, gapMs: 5 }] };
            await post({ pick: urlOf(0), path: `/api/sessions/${id}/messages`, body: { message: textOfJob(job) }, key: `say-${id}` });
            while (!((await world.model()).requests[id] ?? 0)) await new Promise((resolve) => setTimeout(resolve, 5));
            await new Promise((resolve) => setTimeout(resolve, 20));
            const askedAt = Date.now();
            const said = await post({
              pick: urlOf(where === "owner" ? 0 : 1),
              path: `/api/sessions/${id}/abort`,
              body: {},
              key: `abort-${id}`,
            });
            if (said?.body["aborting"] !== true)
              failures.push(`${id}: the abort was answered with ${said?.status} ${JSON.stringify(said?.body)}`);
            const cut = await cutOf(id, world);
            if (cut === undefined) failures.push(`${id}: the connection to the model was not closed in ${patienceMs} ms`);
            else times.push(cut - askedAt);
          }
          return times;
        };
        const owner = await measure("owner");
        const other = await measure("other");
        return {
          failures,
          figures: [
            { name: "aborts on the owner", value: owner.length },
            { name: "until the model's connection closed, owner, p50", value: percentile(owner, 0.5), unit: "ms" },
            {
              name: "until the model's connection closed, owner, p99",
              value: percentile(owner, 0.99),
              unit: "ms",
              bound: { most: bounds.owner },
            },
            { name: "aborts on another node", value: other.length },
            { name: "until the model's connection closed, other node, p50", value: percentile(other, 0.5), unit: "ms" },
            {
              name: "until the model's connection closed, other node, p99",
              value: percentile(other, 0.99),
              unit: "ms",
              bound: { most: bounds.other },
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

const patienceMs = 10_000;

/** When the model saw the connection close, by the clock of the machine. */
async function cutOf(
  job: string,
  world: { model(): Promise<{ readonly cuts: { readonly [job: string]: number } }> },
): Promise<number | undefined> {
  const end = performance.now() + patienceMs;
  while (performance.now() < end) {
    const { cuts } = await world.model();
    if (cuts[job] !== undefined) return cuts[job];
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return undefined;
}
