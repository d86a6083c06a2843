/* R4: Redis is away for as long as is promised to cost nothing, under answers and calls whose leases are renewed at every phase. */
import type { Fact } from "@loopwright/core";
import { seededRandom } from "@loopwright/core/memory";
import { checkSpared } from "../check/check-spared.ts";
import { redisGround } from "../world/ground.ts";
import type { Job } from "../world/job.ts";
import { openStore } from "../world/open-store.ts";
import type { Experiment } from "./experiment.ts";
import { inWorld } from "./in-world.ts";
import { type Outage, outages } from "./redis-outage.ts";
import { sayJob } from "./say-job.ts";
import { until } from "./until.ts";

export interface SparedOptions {
  readonly rounds: number;
  /** How long one outage lasts, in milliseconds. Default 10,000: an outage that long must cost no running work. */
  readonly lastsMs?: number;
}

/** The default lease, and the interval of its renewals. */
const [leaseMs, renewMs] = [20_000, 3_000];
const sessionsPerRound = 8;
const patienceMs = 60_000;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export function sparedOutages({ rounds, lastsMs = 10_000 }: SparedOptions): Experiment {
  const plan = { name: "spared-outages", ground: redisGround({ appendfsync: "always" }), nodes: 2, leaseMs };
  return inWorld(plan, async ({ world, ground, seed, say }) => {
    const random = seededRandom(seed);
    const store = await openStore(world.store);
    const factsOf = (session: string): Promise<readonly Fact[]> => store.log.read({ scope: "local", session });
    const failures: string[] = [];
    const workMs = lastsMs + 4 * renewMs;
    try {
      for (let round = 0; round < rounds; round++) {
        const outage = outages[(round + seed) % outages.length] as Outage;
        const ids = Array.from({ length: sessionsPerRound }, (_, index) => `x${round}s${index}`);
        for (const [index, id] of ids.entries()) {
          await sayJob(() => world.pick(random), id, jobOf(id, { isCall: index % 2 === 0, workMs }));
          // Offsets the sessions, so that their leases are renewed at different times.
          await pause(renewMs / sessionsPerRound);
        }
        await pause(random() * renewMs);
        await outage.begin(ground);
        await pause(lastsMs);
        await outage.end(ground);
        const hasEnded = async (id: string): Promise<boolean> => (await factsOf(id)).some(({ type }) => type === "run.finished");
        await until(async () => (await Promise.all(ids.map(hasEnded))).every(Boolean), patienceMs);
        for (const id of ids)
          failures.push(...checkSpared(id, await factsOf(id)).map((flaw) => `${outage.name} of ${lastsMs} ms: ${flaw}`));
        say(`${round + 1} of ${rounds}: ${outage.name}`);
      }
      return {
        failures,
        figures: [
          { name: `outages of Redis of ${lastsMs} ms, lease ${leaseMs} ms`, value: rounds },
          { name: "answers and calls of class once under way", value: rounds * sessionsPerRound },
          { name: "lost or interrupted", value: failures.length, bound: { exactly: 0 } },
        ],
      };
    } finally {
      await store.close();
    }
  });
}

/** One call of class `once`, or one answer, that takes longer than the outage. */
function jobOf(id: string, { isCall, workMs }: { readonly isCall: boolean; readonly workMs: number }): Job {
  if (isCall)
    return {
      id,
      turns: [
        { words: 1, gapMs: 0, calls: [{ tool: "pay", ms: workMs }] },
        { words: 2, gapMs: 0 },
      ],
    };
  return { id, turns: [{ words: Math.ceil(workMs / 200), gapMs: 200 }] };
}
