/* D6: sessions with large payloads are removed while nodes die. Of those that are gone no payload can be read, of the others every one. */
import { seededRandom } from "@loopwright/core/memory";
import { type BlobSight, checkBlobs } from "../check/check-blobs.ts";
import type { GroundPlan } from "../world/ground.ts";
import type { Job } from "../world/job.ts";
import type { NodeFlaw } from "../world/node-settings.ts";
import type { World } from "../world/world.ts";
import type { Experiment } from "./experiment.ts";
import { inWorld } from "./in-world.ts";
import { sayJob } from "./say-job.ts";
import { until } from "./until.ts";

export interface RemovalOptions {
  readonly ground: GroundPlan;
  readonly nodes: number;
  /** Every other one is removed. */
  readonly sessions: number;
  readonly flaw?: NodeFlaw;
}

const patienceMs = 30_000;
/** More than a log keeps in a fact. */
const ballastChars = 400_000;
const scope = "local";

export function removals({ ground, nodes, sessions, flaw }: RemovalOptions): Experiment {
  return inWorld({ name: `removals-${ground.name}`, ground, nodes, leaseMs: 1_000, sweepMs: 500, flaw }, async ({ world, seed }) => {
    const random = seededRandom(seed);
    const pick = (): string => world.pick(random);
    const ids = Array.from({ length: sessions }, (_, index) => `v${index}`);
    const jobOf = (id: string): Job => ({ id, turns: [{ words: 2, gapMs: 0 }], ballast: id.padEnd(ballastChars, `${id} `) });
    for (const id of ids) await sayJob(pick, id, jobOf(id));
    const before = await world.openStore();
    const blobsOf = new Map<string, readonly string[]>();
    for (const session of ids) {
      const facts = JSON.stringify(await before.log.read({ scope, session }));
      blobsOf.set(session, [...new Set(facts.match(/sha256-[0-9a-f]{64}/g) ?? [])]);
    }
    await before.close();
    // Where the store was open to one process, the node has ended for it.
    await Promise.all(world.nodes.map((node, index) => node ?? world.start(index)));
    const removed = ids.filter((_, index) => index % 2 === 1);
    let kills = 0;
    for (const [index, id] of removed.entries()) {
      const removal = remove(pick(), id).catch(() => 0);
      if (index % 2 === 0) kills += await killOne(world, random);
      await removal;
      if (!(await until(async () => [204, 404].includes(await remove(pick(), id)), patienceMs)))
        throw new Error(`${id} could not be removed.`);
    }
    const sights: BlobSight[] = [];
    const store = await world.openStore();
    try {
      for (const [session, keys] of blobsOf)
        for (const key of keys) {
          const found = await Promise.all([store.blobs.get(scope, key), store.blobs.get(scope, key, { session })]);
          sights.push({ session, key, isRemoved: removed.includes(session), isReadable: found.some(Boolean) });
        }
    } finally {
      await store.close();
    }
    return {
      failures: [...checkBlobs(sights)],
      figures: [
        { name: "sessions removed", value: removed.length },
        { name: "nodes killed meanwhile", value: kills, bound: { least: 1 } },
        { name: "large payloads looked for", value: sights.length, bound: { least: sessions } },
      ],
    };
  });
}

async function remove(base: string, id: string): Promise<number> {
  const response = await fetch(`${base}/api/sessions/${id}`, { method: "DELETE", signal: AbortSignal.timeout(10_000) });
  await response.body?.cancel();
  return response.status;
}

/** Kills any node within a few milliseconds, and starts it again. */
async function killOne(world: World, random: () => number): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, random() * 15));
  const index = Math.floor(random() * world.nodes.length);
  const node = world.nodes[index];
  node?.signal("SIGKILL");
  await node?.ended;
  await world.start(index);
  return 1;
}
