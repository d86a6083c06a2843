/* How long a run stands still when its node dies, and when it is stopped: at the lease that production has. */
import type { SessionStore } from "@loopwright/core/ports";
import type { GroundPlan } from "../world/ground.ts";
import { textOfJob } from "../world/job.ts";
import { openStore } from "../world/open-store.ts";
import { post } from "../world/people/post.ts";
import type { World } from "../world/world.ts";
import { type Experiment, type Figure, percentile } from "./experiment.ts";
import { inWorld } from "./in-world.ts";

export interface TakeOverOptions {
  readonly ground: GroundPlan;
  /** How the node ends. */
  readonly by: "SIGKILL" | "SIGTERM";
  readonly samples: number;
  /** Nodes that die together, each with one session of its own. */
  readonly wave: number;
  readonly mostMs: number;
}

const leaseMs = 20_000;
const scope = "local";

export function takeOver({ ground, by, samples, wave, mostMs }: TakeOverOptions): Experiment {
  const name = `${by === "SIGKILL" ? "take-over" : "hand-over"}-${ground.name}`;
  // One survivor takes all over. A node that is stopped hands over at once what it runs.
  return inWorld({ isTimed: true, name, ground, nodes: wave + 1, leaseMs, drainMs: 1 }, async ({ world, say }) => {
    const store = await openStore(world.store);
    try {
      const gaps: number[] = [];
      for (let done = 0; done < samples; done += wave) {
        const ends = Array.from({ length: Math.min(wave, samples - done) }, (_, index) => ({ index, by, id: `t${done + index}` }));
        gaps.push(...(await Promise.all(ends.map((end) => sample(world, store, end)))));
        say(`${gaps.length} of ${samples}`);
        await Promise.all(ends.map(({ index }) => world.nodes[index + 1] ?? world.start(index + 1)));
      }
      const figures: readonly Figure[] = [
        { name: `nodes ended by ${by}, lease ${leaseMs} ms`, value: gaps.length },
        { name: "gap p50", value: Math.round(percentile(gaps, 0.5)), unit: "ms" },
        { name: "gap p99", value: Math.round(percentile(gaps, 0.99)), unit: "ms", bound: { most: mostMs } },
        { name: "gap max", value: Math.round(Math.max(...gaps)), unit: "ms" },
      ];
      return { figures, failures: [] };
    } finally {
      await store.close();
    }
  });
}

/** Ends the node that runs the session and gives back how long nothing was appended, in milliseconds. */
async function sample(
  world: World,
  store: SessionStore,
  { index, by, id }: { readonly index: number; readonly by: NodeJS.Signals; readonly id: string },
): Promise<number> {
  const node = world.nodes[index + 1] ?? (await world.start(index + 1));
  const pick = (): string => `http://127.0.0.1:${node.port}`;
  const ref = { scope, session: id };
  const job = {
    id,
    turns: [
      { words: 400, gapMs: 10, calls: [{ tool: "read" as const, ms: 1 }] },
      { words: 5, gapMs: 1 },
    ],
  };
  await post({ pick, path: "/api/sessions", body: { id }, key: `open-${id}` });
  await post({ pick, path: `/api/sessions/${id}/messages`, body: { message: textOfJob(job) }, key: `say-${id}` });
  await until(async () => (await store.log.read(ref)).some(({ type }) => type === "model.started"));
  const { epoch } = await store.log.head(ref);
  const endedAt = performance.now();
  node.signal(by);
  await until(async () => (await store.log.read(ref)).some((fact) => (fact.epoch ?? 0) > epoch));
  const gapMs = performance.now() - endedAt;
  // The next session of this place is not for one that is going.
  await node.ended;
  return gapMs;
}

const patienceMs = 60_000;

async function until(holds: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + patienceMs;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`It did not happen within ${patienceMs} ms.`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
