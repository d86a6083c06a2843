import { damagedSession } from "./experiments/damaged-session.ts";
import { deployRoll } from "./experiments/deploy-roll.ts";
import { diskErrors } from "./experiments/disk-errors.ts";
import type { Experiment } from "./experiments/experiment.ts";
import { fullDisk } from "./experiments/full-disk.ts";
import { killStorm } from "./experiments/kill-storm.ts";
import { memory } from "./experiments/memory.ts";
import { pauses } from "./experiments/pauses.ts";
import { damagedQueue } from "./experiments/queue/damaged-queue.ts";
import { longBacklog } from "./experiments/queue/long-backlog.ts";
import { reconnects } from "./experiments/reconnects.ts";
import { redirects } from "./experiments/redirects.ts";
import { redisOutages } from "./experiments/redis-outage.ts";
import { removals } from "./experiments/removals.ts";
import { restoredStore } from "./experiments/restored-store.ts";
import {
  type CrashPointOptions,
  crashPoints,
  plantedBugs,
  type SeedsOptions,
  schedules,
  simulatedSeeds,
} from "./experiments/simulation.ts";
import { sparedOutages } from "./experiments/spared-outages.ts";
import { stopQuickly } from "./experiments/stop-quickly.ts";
import { swallowedReplies } from "./experiments/swallowed-replies.ts";
import { takeOver } from "./experiments/take-over.ts";
import { type TimedKillsOptions, timedKills } from "./experiments/timed/timed-kills.ts";
import { trees } from "./experiments/trees.ts";
import { filesGround, redisGround, s3Ground, sqliteGround } from "./world/ground.ts";

const tiers = ["pr", "nightly", "release"] as const;
export type Tier = (typeof tiers)[number];

export function isTier(text: string): text is Tier {
  return tiers.some((tier) => tier === text);
}

interface Size {
  /** Seeds to simulate, the least of them, and the time for them in milliseconds. */
  readonly seeds: SeedsOptions;
  /** Every place of every script, once. */
  readonly crashes: CrashPointOptions;
  /** The same, with the recovery from each crashed as well; absent: none. */
  readonly secondCrashes?: CrashPointOptions;
  /** Requests of each of two owners, in all orders. */
  readonly ownerRequests: number;
  /** Seeds for each planted bug; 0: none is planted. */
  readonly plantedSeeds: number;
  /** Kills on SQLite, on Redis, on files and on S3. */
  readonly kills: { readonly sqlite: number; readonly redis: number; readonly files: number; readonly s3: number };
  /** Kills under trees of sessions, on each of SQLite and Redis; 0: none. The long tests play smaller ones with a planted flaw. */
  readonly trees: { readonly kills: number; readonly sessions: number };
  readonly pauses: number;
  /** Firings of schedules over three nodes that are killed and paused at their due times. */
  readonly timedKills: Omit<TimedKillsOptions, "ground">;
  readonly outages: number;
  readonly outageMs: readonly number[];
  /** Outages of ten seconds, which cost nothing. */
  readonly sparedOutages: number;
  /** Sessions in a Redis that is put back from a backup. */
  readonly restored: number;
  /** Sessions beside a damaged one. */
  readonly besideDamage: number;
  /** Sessions of which every other one is removed. */
  readonly removals: number;
  /** Calls that a model sends on to another server. */
  readonly redirects: number;
  /** Messages beside faults of the queue, and hints of one tenant that wait before another one writes. */
  readonly queue: { readonly messages: number; readonly backlog: number };
  readonly swallowed: number;
  readonly reconnects: number;
  readonly deploys: number;
  readonly takeOvers: number;
  readonly handOvers: number;
  readonly aborts: number;
  readonly fullDisks: number;
  /** Storms of EIO, on each store that has a disk. */
  readonly diskErrors: number;
  /** Idle clients, and clients that come and go; 0: not measured. */
  readonly streams: { readonly idle: number; readonly cycles: number };
}

const minuteMs = 60_000;

const fiftySchedules = { sessions: 10, schedulesPerSession: 5, hasCron: true, everyMs: 2_500 } as const;

const sizes: { readonly [tier in Tier]: Size } = {
  pr: {
    seeds: { count: 2_000, least: 1, limitMs: 2 * minuteMs, isBeside: true },
    crashes: { depth: 1, limitMs: 40_000 },
    ownerRequests: 4,
    plantedSeeds: 0,
    kills: { sqlite: 20, redis: 20, files: 0, s3: 0 },
    // The smallest takes two minutes of processes that begin anew: too long for a tier of six.
    trees: { kills: 0, sessions: 0 },
    pauses: 5,
    timedKills: { sessions: 2, schedulesPerSession: 5, everyMs: 1_000, firings: 30, kills: 3, pauses: 1 },
    outages: 5,
    outageMs: [1_000],
    sparedOutages: 1,
    restored: 4,
    besideDamage: 6,
    removals: 4,
    redirects: 5,
    queue: { messages: 30, backlog: 10_000 },
    swallowed: 200,
    reconnects: 100,
    deploys: 1,
    takeOvers: 0,
    handOvers: 4,
    aborts: 20,
    fullDisks: 5,
    diskErrors: 3,
    streams: { idle: 0, cycles: 0 },
  },
  nightly: {
    seeds: { count: 1_000_000, least: 30_000, limitMs: 25 * minuteMs, isBeside: false },
    crashes: { depth: 1, limitMs: 5 * minuteMs, isWhole: true },
    secondCrashes: { depth: 2, limitMs: 5 * minuteMs },
    ownerRequests: 5,
    plantedSeeds: 10_000,
    kills: { sqlite: 900, redis: 1_000, files: 60, s3: 50 },
    trees: { kills: 200, sessions: 10 },
    pauses: 60,
    timedKills: { ...fiftySchedules, firings: 1_000, kills: 100, pauses: 20 },
    outages: 25,
    outageMs: [1_000, 5_000, 20_000],
    sparedOutages: 20,
    restored: 40,
    besideDamage: 60,
    removals: 60,
    redirects: 50,
    queue: { messages: 600, backlog: 100_000 },
    swallowed: 20_000,
    reconnects: 1_000,
    deploys: 10,
    takeOvers: 100,
    handOvers: 100,
    aborts: 200,
    fullDisks: 60,
    diskErrors: 50,
    streams: { idle: 5_000, cycles: 10_000 },
  },
  release: {
    seeds: { count: 3_000_000, least: 300_000, limitMs: 10 * 60 * minuteMs, isBeside: false },
    crashes: { depth: 1, limitMs: 5 * minuteMs, isWhole: true },
    secondCrashes: { depth: 2, limitMs: 60 * minuteMs },
    ownerRequests: 6,
    plantedSeeds: 10_000,
    kills: { sqlite: 4_500, redis: 5_000, files: 500, s3: 500 },
    trees: { kills: 1_000, sessions: 10 },
    pauses: 400,
    timedKills: { ...fiftySchedules, firings: 5_000, kills: 500, pauses: 100 },
    outages: 200,
    outageMs: [1_000, 5_000, 20_000, 60_000],
    sparedOutages: 100,
    restored: 100,
    besideDamage: 150,
    removals: 300,
    redirects: 100,
    queue: { messages: 5_000, backlog: 100_000 },
    swallowed: 200_000,
    reconnects: 10_000,
    deploys: 100,
    takeOvers: 300,
    handOvers: 300,
    aborts: 2_000,
    fullDisks: 1_000,
    diskErrors: 1_000,
    streams: { idle: 5_000, cycles: 50_000 },
  },
};

/** Bounds of the design, in milliseconds. */
const takeOverMs = 25_000;
const handOverMs = 1_000;
const backlogMs = 10 * minuteMs;
const storm = { sessions: 20, leaseMs: 1_000 };

/** Without `open`: together with failing writes it has left a file that is malformed, and it is not known yet how. */
const sqliteCalls = ["fsync", "fdatasync", "pwrite"] as const;
const filesCalls = ["fsync", "fdatasync", "open", "rename"] as const;

/** What a tier is made of. */
export function experimentsOf(tier: Tier): readonly Experiment[] {
  const size = sizes[tier];
  const redis = redisGround();
  const wave = 5;
  const all: readonly (readonly [number, () => Experiment])[] = [
    [size.seeds.count, () => simulatedSeeds(size.seeds)],
    [1, () => crashPoints(size.crashes)],
    [size.secondCrashes ? 1 : 0, () => crashPoints(size.secondCrashes ?? size.crashes)],
    [size.ownerRequests, () => schedules({ ownerRequests: size.ownerRequests })],
    [size.plantedSeeds, () => plantedBugs({ seedsMax: size.plantedSeeds })],
    [size.kills.sqlite, () => killStorm({ ...storm, ground: sqliteGround, nodes: 3, kills: size.kills.sqlite })],
    [size.kills.redis, () => killStorm({ ...storm, ground: redis, nodes: 3, kills: size.kills.redis })],
    [size.kills.files, () => killStorm({ ...storm, ground: filesGround, nodes: 1, kills: size.kills.files })],
    [size.kills.s3, () => killStorm({ ...storm, ground: s3Ground, nodes: 3, kills: size.kills.s3 })],
    [size.trees.kills, () => trees({ ...size.trees, ground: sqliteGround })],
    [size.trees.kills, () => trees({ ...size.trees, ground: redis })],
    [size.pauses, () => pauses({ ground: redis, count: size.pauses })],
    [size.timedKills.firings, () => timedKills({ ...size.timedKills, ground: redis })],
    [size.outages, () => redisOutages({ rounds: size.outages, lastMs: size.outageMs })],
    [size.sparedOutages, () => sparedOutages({ rounds: size.sparedOutages })],
    [size.restored, () => restoredStore({ sessions: size.restored })],
    [size.besideDamage, () => damagedSession({ ground: filesGround, nodes: 1, sessions: size.besideDamage })],
    [size.besideDamage, () => damagedSession({ ground: redis, nodes: 2, sessions: size.besideDamage })],
    [size.removals, () => removals({ ground: filesGround, nodes: 1, sessions: size.removals })],
    [size.removals, () => removals({ ground: redis, nodes: 2, sessions: size.removals })],
    [size.redirects, () => redirects({ count: size.redirects })],
    [size.queue.messages, () => damagedQueue({ ground: redis, messages: size.queue.messages })],
    [size.queue.backlog, () => longBacklog({ ground: redis, hints: size.queue.backlog, withinMs: backlogMs })],
    [size.swallowed, () => swallowedReplies({ count: size.swallowed })],
    [size.reconnects, () => reconnects({ ground: redis, count: size.reconnects, nodes: 3 })],
    [size.deploys, () => deployRoll({ ground: redis, nodes: 3, rolls: size.deploys, drainMs: 2_000 })],
    [size.takeOvers, () => takeOver({ ground: redis, by: "SIGKILL", samples: size.takeOvers, wave, mostMs: takeOverMs })],
    [size.handOvers, () => takeOver({ ground: redis, by: "SIGTERM", samples: size.handOvers, wave: 2, mostMs: handOverMs })],
    [size.aborts, () => stopQuickly({ samples: size.aborts })],
    [size.fullDisks, () => fullDisk({ ground: sqliteGround, times: size.fullDisks })],
    [size.diskErrors, () => diskErrors({ ground: sqliteGround, storms: size.diskErrors, calls: sqliteCalls })],
    [size.diskErrors, () => diskErrors({ ground: filesGround, storms: size.diskErrors, calls: filesCalls })],
    [size.streams.idle, () => memory({ ...size.streams, floodBytes: 64 * 1024 * 1024 })],
  ];
  const experiments = all.filter(([count]) => count > 0).map(([, make]) => make());
  return tier === "pr" ? experiments.map(untimed) : experiments;
}

/** The same, with times that are reported and not judged: the machine of a developer may be busy. */
function untimed(experiment: Experiment): Experiment {
  return {
    ...experiment,
    async run(seed, say) {
      const { figures, failures } = await experiment.run(seed, say);
      return { failures, figures: figures.map(({ bound, ...figure }) => (figure.unit === "ms" || !bound ? figure : { ...figure, bound })) };
    },
  };
}
