/* A1, A2: how soon the model's connection is closed after an abort was requested: on the node that runs it, on another, and there without a channel. */

import { type Ground, redisGround } from "../world/ground.ts";
import { textOfJob } from "../world/job.ts";
import { post } from "../world/people/post.ts";
import type { World } from "../world/world.ts";
import { type Experiment, type Figure, percentile } from "./experiment.ts";
import { inWorld } from "./in-world.ts";

const bounds = { owner: 250, other: 1_000, cut: 5_000 };
const leaseMs = 20_000;

/** A store on Redis. The channel has a connection of its own, so that it can be cut alone. */
export function stopQuickly({ samples }: { readonly samples: number }): Experiment {
  const plan = redisGround({ hasOwnChannelLine: true });
  return inWorld({ isTimed: true, name: "abort-redis", ground: plan, nodes: 2, leaseMs }, async ({ world, ground }) => {
    const failures: string[] = [];
    const owner = await stopsOf(world, { where: "owner", samples, failures });
    const other = await stopsOf(world, { where: "other", samples, failures });
    const heal = cutChannel(ground);
    const cut = await stopsOf(world, { where: "cut", samples, failures }).finally(heal);
    const figuresOf = (times: readonly number[], where: string, most: number): readonly Figure[] => [
      { name: `aborts on ${where}`, value: times.length, bound: { exactly: samples } },
      { name: `until the model's connection was closed, ${where}, p50`, value: percentile(times, 0.5), unit: "ms" },
      { name: `until the model's connection was closed, ${where}, p99`, value: percentile(times, 0.99), unit: "ms", bound: { most } },
    ];
    return {
      failures,
      figures: [
        ...figuresOf(owner, "the owner", bounds.owner),
        ...figuresOf(other, "another node", bounds.other),
        ...figuresOf(cut, "another node while the channel is cut", bounds.cut),
      ],
    };
  });
}

interface Stops {
  readonly where: "owner" | "other" | "cut";
  readonly samples: number;
  readonly failures: string[];
}

/** The interval at which every subscriber is cut off: shorter than the time it needs to reconnect and receive much. */
const cutMs = 20;

/** Blocks the connection of the channel, and cuts off all other subscribers again and again, which get the tails of the store. */
function cutChannel({ channelProxy, redis }: Ground): () => Promise<void> {
  channelProxy?.infect({ toServer: { isHeld: true }, toClient: { isHeld: true } });
  let isOver = false;
  const cutting = (async () => {
    while (!isOver) {
      await redis?.command("CLIENT", "KILL", "TYPE", "pubsub");
      await new Promise((resolve) => setTimeout(resolve, cutMs));
    }
  })();
  return () => {
    isOver = true;
    channelProxy?.infect({});
    return cutting;
  };
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
    const written = await post({ pick: urlOf(where === "owner" ? 0 : 1), path: `${path}/abort`, body: {}, key: `abort-${id}` });
    if (written?.body["aborting"] !== true)
      failures.push(`${id}: the abort was answered with ${written?.status} ${JSON.stringify(written?.body)}`);
    const cut = await cutOf(id, world);
    if (cut === undefined) failures.push(`${id}: the connection to the model was not closed in ${patienceMs} ms`);
    else times.push(cut - askedAt);
  }
  return times;
}

const patienceMs = 10_000;

/** The time at which the model saw the connection close, by the clock of the machine. */
async function cutOf(job: string, world: World): Promise<number | undefined> {
  const end = performance.now() + patienceMs;
  while (performance.now() < end) {
    const { cuts } = await world.model();
    if (cuts[job] !== undefined) return cuts[job];
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return undefined;
}
