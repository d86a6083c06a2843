/* R1 to R3: Redis is killed, paused, and behind a line that is down, while people talk. Writes are refused in time, and all continues by itself. */
import { seededRandom } from "@loopwright/core/memory";
import { type Ground, redisGround } from "../world/ground.ts";
import { textOfJob } from "../world/job.ts";
import type { World } from "../world/world.ts";
import { gatherCrowd } from "./crowd/crowd.ts";
import { judgeCrowd, promiseFigures } from "./crowd/judge-crowd.ts";
import { type Experiment, percentile } from "./experiment.ts";
import { inWorld } from "./in-world.ts";
import { recovered } from "./recovered.ts";

/** A way in which Redis is away. */
export interface Outage {
  readonly name: string;
  begin(ground: Ground): Promise<void> | void;
  end(ground: Ground): Promise<void> | void;
}

export const outages: readonly Outage[] = [
  { name: "kill -9", begin: ({ redis }) => redis?.kill(), end: ({ redis }) => redis?.restart() },
  { name: "SIGSTOP", begin: ({ redis }) => redis?.pause(), end: ({ redis }) => redis?.resume() },
  {
    name: "line down",
    begin: ({ proxy }) => proxy?.infect({ toServer: { isHeld: true }, toClient: { isHeld: true } }),
    end: ({ proxy }) => proxy?.infect({}),
  },
  { name: "replies held", begin: ({ proxy }) => proxy?.infect({ toClient: { isHeld: true } }), end: ({ proxy }) => proxy?.infect({}) },
  { name: "refused", begin: ({ proxy }) => refuse(proxy), end: ({ proxy }) => proxy?.infect({}) },
];

function refuse(proxy: Ground["proxy"]): void {
  proxy?.infect({ isRefusing: true });
  proxy?.cut("reset");
}

const bounds = { writeMs: 2_000, recoveryMs: 10_000 };
const recoveryPatienceMs = 40_000;

export interface OutageOptions {
  readonly rounds: number;
  /** How long one lasts: one of these. */
  readonly lastMs: readonly number[];
}

export function redisOutages({ rounds, lastMs }: OutageOptions): Experiment {
  const plan = { name: "redis-outages", ground: redisGround({ appendfsync: "always" }), nodes: 2, leaseMs: 3_000, sweepMs: 500 };
  return inWorld(plan, async ({ world, ground, seed, say }) => {
    const random = seededRandom(seed);
    const refusals: number[] = [];
    const recoveries: number[] = [];
    const failures: string[] = [];
    const pids = world.nodes.map((node) => node?.pid);
    const jobProfile = { tools: ["pay", "book", "sign", "ask"] as const, turnsMax: 2, wordsMax: 60, gapMsMax: 6, toolMsMax: 60 };
    const watchers = [{}, { cutAfterBytes: 20_000 }];
    const crowd = await gatherCrowd({ world, sessions: 10, random: seededRandom(seed + 1), jobProfile, watchers });
    for (let round = 0; round < rounds; round++) {
      const outage = outages[round % outages.length] as Outage;
      const length = lastMs[Math.floor(random() * lastMs.length)] ?? 1_000;
      await new Promise((resolve) => setTimeout(resolve, 500 + random() * 1_000));
      await outage.begin(ground);
      const until = performance.now() + length;
      do refusals.push(...(await refusalsOf(world, `o${round}`, { until, failures, name: outage.name })));
      while (performance.now() < until);
      await outage.end(ground);
      const healedAt = performance.now();
      const isBack = await recovered(world, { id: `r${round}`, withinMs: recoveryPatienceMs });
      const took = performance.now() - healedAt;
      if (isBack) recoveries.push(took);
      else failures.push(`P14: after ${outage.name} of ${length} ms nothing worked within ${recoveryPatienceMs} ms`);
      say(`${round + 1} of ${rounds}: ${outage.name}, ${length} ms, back after ${Math.round(took)} ms`);
    }
    world.nodes.forEach((node, index) => {
      if (node?.pid !== pids[index]) failures.push(`P14: node ${index} ended during an outage`);
    });
    const judged = await judgeCrowd(world, crowd, { otherSessions: rounds * world.nodes.length });
    const p99 = (values: readonly number[]): number => Math.round(percentile(values, 0.99));
    return {
      failures: [...failures, ...judged.flaws],
      figures: [
        { name: "outages of Redis", value: rounds },
        { name: "writes tried while it was away", value: refusals.length },
        { name: "until a write was answered, p99", value: p99(refusals), unit: "ms", bound: { most: bounds.writeMs } },
        { name: "until a write was answered, max", value: Math.round(percentile(refusals, 1)), unit: "ms" },
        { name: "recovery after healing, p99", value: p99(recoveries), unit: "ms", bound: { most: bounds.recoveryMs } },
        ...promiseFigures(judged),
      ],
    };
  });
}

/** How long each node took to answer that it cannot write now. */
async function refusalsOf(
  world: World,
  id: string,
  { until, failures, name }: { readonly until: number; readonly failures: string[]; readonly name: string },
): Promise<readonly number[]> {
  const job = { id, turns: [{ words: 1, gapMs: 0 }] };
  return Promise.all(
    world.nodes.map(async (node) => {
      const askedAt = performance.now();
      const response = await fetch(`http://127.0.0.1:${node?.port}/api/sessions/s0/messages`, {
        method: "POST",
        headers: { "content-type": "application/json", "idempotency-key": `away-${id}-${node?.pid}` },
        body: JSON.stringify({ message: textOfJob(job), mode: "enqueue" }),
        signal: AbortSignal.timeout(recoveryPatienceMs),
      });
      const took = performance.now() - askedAt;
      const body = (await response.json()) as { readonly code?: string; readonly retryable?: boolean };
      const isYes = response.status < 300;
      // One that was begun while all was well, or came back, may be answered with yes.
      if (!isYes && (response.status !== 503 || body.retryable !== true))
        failures.push(`P14: ${name}: a write was answered with ${response.status} ${body.code}`);
      await new Promise((resolve) => setTimeout(resolve, Math.min(200, Math.max(0, until - performance.now()))));
      return took;
    }),
  );
}
