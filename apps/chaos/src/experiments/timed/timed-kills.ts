/* T2: schedules of many sessions fire over several nodes that are killed and paused around their due times. */
import type { FactType } from "@loopwright/core";
import { seededRandom } from "@loopwright/core/memory";
import type { GroundPlan } from "../../world/ground.ts";
import type { KillPoint, NodeFlaw } from "../../world/node-settings.ts";
import type { World } from "../../world/world.ts";
import { judgeCrowd, promiseFigures } from "../crowd/judge-crowd.ts";
import { type Experiment, percentile } from "../experiment.ts";
import { inWorld } from "../in-world.ts";
import { createNodeKiller } from "../node-killer.ts";
import { until } from "../until.ts";
import { openFiringLog } from "./firing-log.ts";
import { clearSchedule, openPlace, planOf, setSchedule } from "./planned-schedules.ts";

export interface TimedKillsOptions {
  readonly ground: GroundPlan;
  readonly nodes?: number;
  readonly sessions: number;
  /** Of each session: one of them fires once, one by a cron expression where `hasCron`, the others at an interval. */
  readonly schedulesPerSession: number;
  readonly hasCron?: boolean;
  readonly everyMs: number;
  /** It lasts until there are so many. */
  readonly firings: number;
  readonly kills: number;
  readonly pauses: number;
  readonly flaw?: NodeFlaw;
}

const leaseMs = 1_000;
/** The first due time lies so far ahead that a busy machine has set all schedules before it. */
const leadMs = 1_500;
const leadOfEachMs = 250;
/** Kills and pauses lie so far before or after a due time. */
const edgeMs = 40;
/** How long after the last fault each schedule must have fired again; one of a cron expression waits for its minute. */
const calmMs = 150_000;

/** Where a node that fires a schedule kills itself. */
const points: readonly KillPoint["at"][] = [
  "owner.claimed" satisfies FactType,
  "input.accepted" satisfies FactType,
  "run.started" satisfies FactType,
  "run.finished" satisfies FactType,
  "witness-start",
];

export function timedKills({ ground, nodes = 3, flaw, ...options }: TimedKillsOptions): Experiment {
  return inWorld({ name: `timed-kills-${ground.name}`, ground, nodes, leaseMs, sweepMs: 500, flaw }, async ({ world, seed, say }) => {
    const random = seededRandom(seed);
    const { everyMs, schedulesPerSession } = options;
    const places = await Promise.all(Array.from({ length: options.sessions }, (_, index) => openPlace(world, `t${index}`, options)));
    // The schedules of all sessions share their dates, so that each date is work for every node.
    const firstMs = Date.now() + leadMs + leadOfEachMs * options.sessions * schedulesPerSession;
    const all = places.flatMap(({ id }) =>
      Array.from({ length: schedulesPerSession }, (_, index) => planOf(id, index, { firstMs, ...options })),
    );
    await Promise.all(all.map((plan) => setSchedule(world, plan)));
    const stepMs = everyMs / schedulesPerSession;
    const untilEdgeMs = (): number => {
      const moment = Date.now() - firstMs + edgeMs * (2 * random() - 1);
      return moment < 0 ? -moment : stepMs - (moment % stepMs);
    };
    const log = await openFiringLog(world, places);
    try {
      const killer = createNodeKiller(world, random, { points, waitMs: untilEdgeMs });
      const pausing = pauseAtEdges(world, { random, untilEdgeMs, pauses: options.pauses });
      const { kills, aimed, flaws } = await killer.kill(options.kills, () => {});
      await pausing;
      say(`${kills} kills and ${options.pauses} pauses; ${(await log.read()).firings} firings so far`);
      const calmFrom = Date.now();
      const repeated = all.filter(({ body }) => "cron" in body || "everyMs" in body);
      const areDone = async (): Promise<boolean> =>
        (await log.read()).firings >= options.firings && repeated.every(({ session, name }) => log.lastDue(session, name) > calmFrom);
      const isAlive = await until(areDone, calmMs + options.firings * 100);
      await Promise.all(repeated.map((plan) => clearSchedule(world, plan)));
      const judged = await judgeCrowd(world, { places, reconnects: 0 });
      const { firings, doubled, passed, completed, lateMs, flaws: flawsOfDates } = await log.read();
      return {
        failures: [
          ...flaws,
          ...flawsOfDates,
          ...(isAlive ? [] : ["I17: after the last fault some schedules did not fire again"]),
          ...judged.flaws,
        ],
        figures: [
          { name: "schedules", value: all.length },
          { name: "firings", value: firings, bound: { least: options.firings } },
          { name: "due times that fired twice", value: doubled, bound: { exactly: 0 } },
          { name: "due times that were lost", value: flawsOfDates.length, bound: { exactly: 0 } },
          { name: "due times that had passed when the one before them fired", value: passed },
          { name: "firings whose run was completed", value: completed, bound: { exactly: firings } },
          { name: "kills", value: kills, bound: { least: options.kills } },
          { name: "kills aimed at a fact or a side effect", value: aimed },
          { name: "pauses longer than a lease", value: options.pauses },
          { name: "late by, p50", value: Math.round(percentile(lateMs, 0.5)), unit: "ms" },
          { name: "late by, p99", value: Math.round(percentile(lateMs, 0.99)), unit: "ms" },
          ...promiseFigures(judged).filter(({ name }) => !name.startsWith("acknowledged")),
        ],
      };
    } finally {
      await log.close();
    }
  });
}

/** Stops a node shortly before a due time and lets it continue when its lease is over and another one has fired for it. */
async function pauseAtEdges(
  world: World,
  { random, untilEdgeMs, pauses }: { readonly random: () => number; readonly untilEdgeMs: () => number; readonly pauses: number },
): Promise<void> {
  for (let done = 0; done < pauses; done++) {
    await new Promise((resolve) => setTimeout(resolve, random() * 500));
    await new Promise((resolve) => setTimeout(resolve, untilEdgeMs()));
    const alive = world.nodes.filter((node) => node?.isAlive);
    const node = alive[Math.floor(random() * alive.length)];
    node?.signal("SIGSTOP");
    await new Promise((resolve) => setTimeout(resolve, leaseMs * (1.1 + random())));
    node?.signal("SIGCONT");
  }
}
