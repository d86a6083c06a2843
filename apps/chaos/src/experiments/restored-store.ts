/* D5: Redis is killed, put back from a backup and started again, under nodes that worked on after it was taken. Nothing that ran since runs again. */
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SessionStore } from "@loopwright/core/ports";
import { checkStarts } from "../check/check-starts.ts";
import { type Ground, redisGround } from "../world/ground.ts";
import type { Job } from "../world/job.ts";
import type { NodeFlaw } from "../world/node-settings.ts";
import { openStore } from "../world/open-store.ts";
import type { World } from "../world/world.ts";
import type { Experiment } from "./experiment.ts";
import { inWorld } from "./in-world.ts";
import { recovered } from "./recovered.ts";
import { sayJob } from "./say-job.ts";
import { until } from "./until.ts";

export interface RestoreOptions {
  readonly sessions: number;
  readonly flaw?: NodeFlaw;
}

const patienceMs = 30_000;
/** Nodes make no claim in the first ten seconds of a new Redis, and a lease from before lasts three seconds. */
const watchMs = 16_000;

const jobOf = (id: string): Job => ({
  id,
  turns: [
    { words: 200, gapMs: 10, calls: [{ tool: "pay", ms: 1 }] },
    { words: 3, gapMs: 0 },
  ],
});

export function restoredStore({ sessions, flaw }: RestoreOptions): Experiment {
  const plan = { name: "restored-redis", ground: redisGround({ appendfsync: "always" }), nodes: 2, leaseMs: 3_000, sweepMs: 500, flaw };
  return inWorld(plan, async ({ world, ground, say }) => {
    const ids = Array.from({ length: sessions }, (_, index) => `b${index}`);
    const failures: string[] = [];
    const backup = await mkdtemp(join(tmpdir(), "loopwright-backup-"));
    const store = await openStore(world.store, flaw);
    try {
      await Promise.all(ids.map((id) => sayJob(() => world.pick(Math.random), id, jobOf(id))));
      await awaitFact(store, ids, "model.started");
      await cp(ground.redis?.dir ?? "", backup, { recursive: true });
      await awaitFact(store, ids, "run.finished");
      const ran = (await world.testimonies()).length;
      await putBack(world, ground, backup);
      say("the backup is back, and one node was started anew");
      if (!(await until(() => everyReadiness(world, 503), patienceMs))) failures.push("P4: a node is ready on a store that went back");
      await new Promise((resolve) => setTimeout(resolve, watchMs));
      failures.push(...checkStarts(await world.testimonies(), ["pay"]));
      if (!(await everyReadiness(world, 503))) failures.push("P4: a node became ready on a store that was not accepted");
      const doctor = await openStore(world.store);
      const isAccepted = await doctor.acceptRestored?.();
      await doctor.close();
      if (isAccepted !== true) failures.push("P4: there was nothing to accept");
      const isBack =
        (await until(() => everyReadiness(world, 200), patienceMs)) && (await recovered(world, { id: "after", withinMs: patienceMs }));
      if (!isBack) failures.push(`P14: the store was accepted and not all nodes work on it within ${patienceMs} ms`);
      return {
        failures,
        figures: [{ name: "what the witness saw of tools of the class once before", value: ran, bound: { least: 2 * sessions } }],
      };
    } finally {
      await store.close();
      await rm(backup, { recursive: true, force: true });
    }
  });
}

/** Resolves when all logs have such a fact. @throws Error when a log has none in time */
async function awaitFact(store: SessionStore, ids: readonly string[], wanted: "model.started" | "run.finished"): Promise<void> {
  const hasIt = async (session: string): Promise<boolean> =>
    (await store.log.read({ scope: "local", session })).some(({ type }) => type === wanted);
  if (!(await until(async () => (await Promise.all(ids.map(hasIt))).every(Boolean), patienceMs)))
    throw new Error(`Not every session had ${wanted} within ${patienceMs} ms.`);
}

/** The first node keeps running. The other one is killed together with Redis, so it does not know the lost state when it starts again. */
async function putBack(world: World, { redis }: Ground, backup: string): Promise<void> {
  if (!redis) throw new Error("There is no Redis to put back.");
  await redis.kill();
  const killed = world.nodes[1];
  killed?.signal("SIGKILL");
  await killed?.ended;
  await rm(redis.dir, { recursive: true, force: true });
  await cp(backup, redis.dir, { recursive: true });
  await redis.restart();
  await world.start(1);
}

async function everyReadiness(world: World, wanted: number): Promise<boolean> {
  const statuses = world.nodes.map(async (node) => {
    const response = await fetch(`http://127.0.0.1:${node?.port}/readyz`, { signal: AbortSignal.timeout(5_000) });
    await response.body?.cancel();
    return response.status;
  });
  return (await Promise.all(statuses)).every((status) => status === wanted);
}
