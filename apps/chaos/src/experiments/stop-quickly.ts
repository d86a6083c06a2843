/* How soon the model's connection is closed after somebody asked to stop, on the node that runs it and on another. */

import type { GroundPlan } from "../world/ground.ts";
import { textOfJob } from "../world/job.ts";
import { post } from "../world/post.ts";
import type { World } from "../world/world.ts";
import { type Experiment, type Figure, percentile } from "./experiment.ts";
import { inWorld } from "./in-world.ts";

const bounds = { owner: 250, other: 1_000 };
const leaseMs = 15_000;

export function stopQuickly({ ground, samples }: { readonly ground: GroundPlan; readonly samples: number }): Experiment {
  return inWorld({ isTimed: true, name: `abort-${ground.name}`, ground, nodes: 2, leaseMs }, async ({ world }) => {
    const failures: string[] = [];
    const owner = await stopsOf(world, { where: "owner", samples, failures });
    const other = await stopsOf(world, { where: "other", samples, failures });
    const figuresOf = (times: readonly number[], where: string, most: number): readonly Figure[] => [
      { name: `aborts on ${where}`, value: times.length, bound: { exactly: samples } },
      { name: `until the model's connection was closed, ${where}, p50`, value: percentile(times, 0.5), unit: "ms" },
      { name: `until the model's connection was closed, ${where}, p99`, value: percentile(times, 0.99), unit: "ms", bound: { most } },
    ];
    return { failures, figures: [...figuresOf(owner, "the owner", bounds.owner), ...figuresOf(other, "another node", bounds.other)] };
  });
}

interface Stops {
  readonly where: "owner" | "other";
  readonly samples: number;
  readonly failures: string[];
}

/** How long each stop took, in milliseconds. */
async function stopsOf(world: World, { where, samples, failures }: Stops): Promise<readonly number[]> {
  const urlOf =
    (index: number): (() => string) =>
    () =>
      `http://127.0.0.1:${world.nodes[index]?.port}`;
  const times: number[] = [];
  for (let done = 0; done < samples; done++) {
    const id = `${where}${done}`;
    const path = `/api/sessions/${id}`;
    await post({ pick: urlOf(0), path: "/api/sessions", body: { id }, key: `open-${id}` });
    const job = { id, turns: [{ words: 3_000, gapMs: 5 }] };
    await post({ pick: urlOf(0), path: `${path}/messages`, body: { message: textOfJob(job) }, key: `say-${id}` });
    while (!((await world.model()).requests[id] ?? 0)) await new Promise((resolve) => setTimeout(resolve, 5));
    await new Promise((resolve) => setTimeout(resolve, 20));
    const askedAt = Date.now();
    const said = await post({ pick: urlOf(where === "owner" ? 0 : 1), path: `${path}/abort`, body: {}, key: `abort-${id}` });
    if (said?.body["aborting"] !== true) failures.push(`${id}: the abort was answered with ${said?.status} ${JSON.stringify(said?.body)}`);
    const cut = await cutOf(id, world);
    if (cut === undefined) failures.push(`${id}: the connection to the model was not closed in ${patienceMs} ms`);
    else times.push(cut - askedAt);
  }
  return times;
}

const patienceMs = 10_000;

/** When the model saw the connection close, by the clock of the machine. */
async function cutOf(job: string, world: World): Promise<number | undefined> {
  const end = performance.now() + patienceMs;
  while (performance.now() < end) {
    const { cuts } = await world.model();
    if (cuts[job] !== undefined) return cuts[job];
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return undefined;
}
