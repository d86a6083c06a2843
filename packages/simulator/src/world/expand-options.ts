import type { Agent } from "@loopwright/core";
import type { HostLimits } from "@loopwright/host";
import { createDice, type Dice } from "./dice.ts";
import type { NodeRole } from "./simulated-host.ts";
import type { ModelScript } from "./simulated-model.ts";

/** How rough the world is. Shares are of requests, rates of events per simulated minute. */
export interface FaultRates {
  /** A process dies between two of its requests, or in the middle of one. */
  readonly crashes: number;
  /** A process is paused for seconds, then continues. */
  readonly pauses: number;
  /** The store is unreachable for every process for a while. */
  readonly outages: number;
  /** The machine of all processes dies, and with it the writes in progress. */
  readonly machineCrashes: number;
  /** A process is terminated and hands over. Also without faults: deployments replace processes. */
  readonly handOvers: number;
  /** A process is asked to let go of one session. */
  readonly evictions: number;
  /** The wall clock of one process is turned by up to two days. */
  readonly clockTurns: number;
  /** The store is unreachable for one process for a while. */
  readonly partitions: number;
  /** The channel carries nothing to one process for a while. */
  readonly cuts: number;
  /** A program that was set up with another agent opens a session and speaks. Default: in one seed of four. */
  readonly wrongAgents: number;
  /** Share of requests to the store whose arrival or answer is lost. */
  readonly unknown: number;
  /** Share of requests to the store that arrive twice. */
  readonly doubled: number;
  /** Share of requests to the store that take hundreds of milliseconds. */
  readonly slow: number;
  /** Share of messages of the channel, and of hints of the queue, that are lost; doubled and late ones are as many. */
  readonly lossy: number;
}

export interface SimulateOptions {
  /** The same seed, options and agent give the same simulation. */
  readonly seed: number;
  /** What is simulated. Default: a sample agent with tools of every kind. */
  readonly agent?: Agent;
  /** The answers of the model. Default: texts, calls of the agent's tools with arguments that fit their schemas, and vendor failures. */
  readonly model?: ModelScript;
  /** The inputs of people, chosen at random. Default: numbered messages. */
  readonly texts?: readonly string[];
  /** Processes. Default 3. */
  readonly nodes?: number;
  /** Default: one to three. */
  readonly sessions?: number;
  readonly clientsPerSession?: number;
  /** How long it is rough, in virtual milliseconds. Default: 10 to 40 seconds. */
  readonly stormMs?: number;
  /** True: no faults, only delays; in most of the seeds processes are replaced all the same. Default: one seed in five. */
  readonly calm?: boolean;
  readonly faults?: Partial<FaultRates>;
  /** Schedules that each client sets or removes. Default: with the sample agent some in one seed of three, else none. */
  readonly schedulesPerMinute?: number;
  readonly leaseMs?: number;
  /** True: the sessions were begun before, with a client tool and a prompt of their own. Default: one seed in four. */
  readonly isRestored?: boolean;
  /** Which process serves requests and which runs sessions. Default: all do both, or servers and workers apart, as the seed decides. */
  readonly roles?: readonly NodeRole[];
  /** A session with unfinished work and no progress for so long after the last fault is a failure. Default 120,000. */
  readonly quietMs?: number;
  /** How long real work of a tool or hook is waited for while time stands still. Default 2,000 real milliseconds. */
  readonly realWaitMs?: number;
  /** True: the report holds every line of the trace. */
  readonly trace?: boolean;
}

/** Everything that a seed decides, spelled out: what a failure prints. */
export interface ExpandedOptions {
  readonly seed: number;
  readonly calm: boolean;
  readonly roles: readonly NodeRole[];
  /** Processes that get no notifications of appends and have to poll. */
  readonly deaf: readonly boolean[];
  readonly hasChannel: boolean;
  /** False: there are no hints, and workers poll. */
  readonly hasQueue: boolean;
  readonly sessions: number;
  readonly clientsPerSession: number;
  readonly stormMs: number;
  readonly leaseMs: number;
  /** Limits of every host: small ones, so that sessions come and go. */
  readonly hosting: HostingLimits;
  readonly quietMs: number;
  readonly actsPerMinute: number;
  readonly schedulesPerMinute: number;
  readonly modelPaceMs: { readonly first: number; readonly next: number };
  readonly toolSlowestMs: number;
  /** The sessions were begun earlier, with a client tool and a prompt of their own, which the processes are not configured with. */
  readonly isRestored: boolean;
  readonly faults: FaultRates;
}

/** Limits of a host that a seed decides. */
export type HostingLimits = Pick<HostLimits, "sessionIdleMs" | "sessionsLoaded" | "workerSessions" | "sweepMs" | "pollMs">;

function hostingOf(dice: Dice): HostingLimits {
  return {
    sessionIdleMs: Math.round(dice.chance(0.7) ? dice.between(20, 500) : dice.between(500, 4_000)),
    sessionsLoaded: dice.chance(0.3) ? 1 : dice.chance(0.5) ? 2 : 100,
    workerSessions: dice.chance(0.3) ? 1 : 8,
    sweepMs: 10_000,
    pollMs: 1_000,
  };
}

const noFaults: FaultRates = {
  crashes: 0,
  pauses: 0,
  outages: 0,
  machineCrashes: 0,
  handOvers: 0,
  evictions: 0,
  clockTurns: 0,
  partitions: 0,
  cuts: 0,
  wrongAgents: 0,
  unknown: 0,
  doubled: 0,
  slow: 0,
  lossy: 0,
};

/** The options with everything that the seed decides. */
export function expandOptions(options: SimulateOptions): ExpandedOptions {
  const { seed, nodes = 3 } = options;
  const dice = createDice(seed).fork("options");
  /** For what was added later: the rest of what a seed decides stays as it was. */
  const late = createDice(seed).fork("later options");
  const isFaultless = [dice.chance(0.1), createDice(seed).fork("deployments").chance(0.1)].includes(true);
  const calm = options.calm ?? isFaultless;
  /** Many seeds are rough in a few ways only: what only one fault shows must not drown in the others. */
  const some = (most: number): number => (dice.chance(0.5) ? dice.between(0, most) : 0);
  const faults: FaultRates = {
    crashes: some(12),
    pauses: some(6),
    outages: some(3),
    machineCrashes: some(2),
    handOvers: some(4),
    evictions: some(8),
    clockTurns: some(3),
    partitions: some(3),
    cuts: some(6),
    wrongAgents: late.chance(0.25) ? late.between(2, 10) : 0,
    unknown: some(0.08),
    doubled: some(0.08),
    slow: some(0.1),
    lossy: some(0.2),
  };
  const planning = createDice(seed).fork("schedules");
  const deploys = late.chance(0.7) ? late.between(4, 16) : 0;
  const isApart = nodes > 1 && dice.chance(0.5);
  const roleAt = (_: unknown, at: number): NodeRole =>
    !isApart ? "all" : at === 0 ? "server" : at === 1 ? "worker" : dice.oneOf(["server", "worker"]);
  return {
    seed,
    calm,
    roles: options.roles ?? Array.from({ length: nodes }, roleAt),
    deaf: Array.from({ length: options.roles?.length ?? nodes }, () => dice.chance(0.3)),
    hasChannel: dice.chance(0.8),
    sessions: options.sessions ?? 1 + dice.below(3),
    clientsPerSession: options.clientsPerSession ?? 1 + dice.below(3),
    stormMs: options.stormMs ?? Math.round(dice.between(10_000, 40_000)),
    leaseMs: options.leaseMs ?? (dice.chance(0.2) ? 20_000 : 5_000),
    hosting: hostingOf(late),
    hasQueue: late.chance(0.85),
    quietMs: options.quietMs ?? 120_000,
    actsPerMinute: Math.round(dice.between(20, 90)),
    schedulesPerMinute: options.schedulesPerMinute ?? (!options.agent && planning.chance(1 / 3) ? Math.round(planning.between(4, 20)) : 0),
    modelPaceMs: dice.chance(0.3) ? { first: 1_500, next: 400 } : { first: 150, next: 40 },
    toolSlowestMs: dice.chance(0.5) ? 10_000 : 1_500,
    isRestored: options.isRestored ?? late.chance(0.25),
    faults: { ...(calm ? { ...noFaults, handOvers: deploys } : faults), ...options.faults },
  };
}
