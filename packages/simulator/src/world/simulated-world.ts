/*
 * Owns: one world: a store, a channel, a queue and several processes that run the real runtime over them.
 * Does not own: what happens in it (storm, scenario), whether it was right (checker).
 */
import type { Agent } from "@loopwright/core";
import { seededIds } from "@loopwright/core/memory";
import type { IdSource, SessionLog } from "@loopwright/core/ports";
import type { HostLimits } from "@loopwright/host";
import { createNode } from "./create-node.ts";
import type { Dice } from "./dice.ts";
import type { FaultRates } from "./expand-options.ts";
import { createHostRecord, type HostRecord } from "./host-record.ts";
import { nodeAgent } from "./node-agent.ts";
import { createChannel, type SimulatedChannel } from "./simulated-channel.ts";
import { type NodeRole, type SimulatedHost, startHost } from "./simulated-host.ts";
import type { ModelScript } from "./simulated-model.ts";
import type { Fate, FateOf } from "./simulated-node.ts";
import { createQueue, type SimulatedQueue } from "./simulated-queue.ts";
import { createStore, type SimulatedStore } from "./simulated-store.ts";
import type { Trace } from "./trace.ts";
import type { VirtualTime } from "./virtual-time.ts";
import { createWitness, type Witness } from "./witness.ts";

export interface World {
  readonly time: VirtualTime;
  readonly trace: Trace;
  readonly scope: string;
  /** The right time, in milliseconds since the epoch; the clock of a process may be wrong. */
  wallMs(): number;
  readonly witness: Witness;
  /** What the processes did as hosts. */
  readonly record: HostRecord;
  readonly store: SimulatedStore;
  readonly channel: SimulatedChannel;
  readonly agent: Agent;
  /** One per place; a dead one stays until its place is started again. */
  readonly leaseMs: number;
  readonly hosting: WorldOptions["hosting"];
  readonly hasQueue: boolean;
  readonly hosts: readonly SimulatedHost[];
  /** Every process since the beginning, dead ones included. */
  readonly everyHost: readonly SimulatedHost[];
  isCalm(): boolean;
  calmDown(): void;
  /** A process for a client to connect to. When all processes are dead it is a dead one. */
  anyHost(dice: Dice): SimulatedHost;
  /** A new process in this place; the old one is dead by then. */
  start(place: number): SimulatedHost;
}

/** Flaws of a world, for trials of the checker: each takes the real part and gives the flawed one. */
export interface Sabotage {
  readonly log?: (log: SessionLog) => SessionLog;
  /** The log as one process sees it. */
  readonly nodeLog?: (log: SessionLog, scene: { readonly wallMs: () => number }) => SessionLog;
}

export interface WorldOptions {
  readonly time: VirtualTime;
  readonly trace: Trace;
  readonly dice: Dice;
  readonly seed: number;
  readonly agent: Agent;
  readonly model: ModelScript;
  readonly roles: readonly NodeRole[];
  readonly deaf: readonly boolean[];
  readonly hasChannel: boolean;
  readonly hasQueue: boolean;
  readonly leaseMs: number;
  /** Limits of every host. */
  readonly hosting: Partial<HostLimits>;
  readonly modelPaceMs: { readonly first: number; readonly next: number };
  readonly toolSlowestMs: number;
  readonly faults: FaultRates;
  /** True: clients speak to the first process that lives. Default: to any. */
  readonly isSticky?: boolean;
  /** How long a tool takes, in virtual milliseconds. Default: random. */
  readonly toolMs?: (tool: string) => number;
  /** Decides before the dice do. */
  readonly fuse?: (asked: Parameters<FateOf>[0]) => Partial<Fate> | undefined;
  readonly sabotage?: Sabotage | undefined;
}

const scope = "local";
/** 2026-01-01T00:00:00Z */
const epochMs = 1_767_225_600_000;

export function createWorld(options: WorldOptions): World {
  const { time, trace, dice, seed, roles, faults, sabotage = {} } = options;
  const lossy = (): number => (isCalm ? 0 : faults.lossy);
  let isCalm = false;
  let calmSinceMs = Number.POSITIVE_INFINITY;
  const witness = createWitness();
  const record = createHostRecord();
  const ids = seededIds(seed);
  const store = createStore({ time, dice: dice.fork("store"), ...(sabotage.log ? { spoil: sabotage.log } : {}) });
  const channel = createChannel({
    time,
    dice: dice.fork("channel"),
    faults: () => ({ dropped: lossy(), doubled: lossy() / 4, late: lossy() / 4 }),
  });
  const queue = createQueue({ time, dice: dice.fork("queue"), faults: () => ({ lost: lossy(), doubled: lossy(), late: lossy() }) });
  const fateOf = createFate(options, () => isCalm);
  const everyHost: SimulatedHost[] = [];
  const hosts: SimulatedHost[] = [];
  const pace = dice.fork("pace");
  const start = (place: number): SimulatedHost => {
    const lives = everyHost.filter(({ node }) => node.name.startsWith(`n${place + 1}.`)).length;
    const name = `n${place + 1}.${lives + 1}`;
    const host = startProcess(options, {
      place,
      name,
      store,
      channel,
      queue,
      witness,
      record,
      ids,
      pace,
      fateOf,
      isCalm: () => isCalm,
      calmForMs: () => time.nowMs - calmSinceMs,
    });
    everyHost.push(host);
    hosts[place] = host;
    return host;
  };
  for (const place of roles.keys()) start(place);

  return {
    time,
    trace,
    scope,
    wallMs: () => epochMs + time.nowMs,
    witness,
    record,
    store,
    channel,
    agent: options.agent,
    leaseMs: options.leaseMs,
    hosting: options.hosting,
    hasQueue: options.hasQueue,
    hosts,
    everyHost,
    isCalm: () => isCalm,
    calmDown() {
      isCalm = true;
      calmSinceMs = time.nowMs === 0 ? Number.NEGATIVE_INFINITY : time.nowMs;
    },
    anyHost(from) {
      const serving = hosts.filter(({ role }) => role !== "worker");
      // A process that hands over is not ready: a load balancer sends no client there.
      const alive = serving.filter(({ node, isLeaving }) => node.state !== "dead" && !isLeaving);
      const [first] = alive;
      return options.isSticky && first ? first : from.oneOf(alive.length > 0 ? alive : serving);
    },
    start,
  };
}

/** What a process is started with. */
interface HostParts {
  readonly place: number;
  readonly name: string;
  readonly store: SimulatedStore;
  readonly channel: SimulatedChannel;
  readonly queue: SimulatedQueue;
  readonly witness: Witness;
  readonly record: HostRecord;
  readonly ids: IdSource;
  readonly pace: Dice;
  readonly fateOf: FateOf;
  readonly isCalm: () => boolean;
  readonly calmForMs: () => number;
}

function startProcess(options: WorldOptions, parts: HostParts): SimulatedHost {
  const { time, trace, sabotage = {}, leaseMs } = options;
  const { place, name, store, channel, queue, witness, record, ids, pace, fateOf, isCalm, calmForMs } = parts;
  const node = createNode({ name, time, trace, fateOf, epochMs });
  const view = store.viewOf(node, { isDeaf: options.deaf[place] ?? false });
  const nodeStore = sabotage.nodeLog ? { ...view, log: sabotage.nodeLog(view.log, { wallMs: () => node.clock.now() }) } : view;
  const { modelPaceMs: paceMs, toolSlowestMs, toolMs, model: script } = options;
  const more = { node, time, witness, dice: pace, script, isCalm, paceMs, toolSlowestMs, ...(toolMs ? { toolMs } : {}) };
  return startHost({
    ...{ node, scope, ids, leaseMs, time, trace, record },
    role: options.roles[place] ?? "all",
    agent: nodeAgent(options.agent, more),
    store: nodeStore,
    truth: { log: store.truth.log, claims: store.claims },
    channel: options.hasChannel ? channel.viewOf(node) : undefined,
    queue: options.hasQueue ? queue.viewOf(node) : undefined,
    limits: options.hosting,
    isCalm,
    calmForMs,
  });
}

/** Requests that the storm may fail; others are only delayed. */
const storeKinds = new Set([
  ...["append", "read", "head", "claim", "renew", "release", "due", "set-due"],
  ...["blob-put", "blob-get", "snapshot-put", "offer"],
]);

/** Share of requests in which a process dies for each crash a minute. */
const midShare = 0.0003;

function createFate({ dice: all, faults, fuse, leaseMs }: WorldOptions, isCalm: () => boolean): FateOf {
  const dice = all.fork("fate");
  return (asked) => {
    const planned = fuse?.(asked);
    const isSlow = !isCalm() && dice.chance(faults.slow);
    const base: Fate = {
      requestMs: isSlow ? dice.between(5, 900) : dice.between(0.1, 1.5),
      answerMs: dice.between(0.1, isSlow ? 600 : 1.5),
    };
    if (planned) return { ...base, ...planned };
    if (isCalm()) return base;
    // In the middle of things, where a moment between two requests would not show it.
    if (dice.chance(faults.crashes * midShare)) return { ...base, dies: dice.chance(0.5) ? "before" : "after" };
    if (asked.kind === "append" && dice.chance(faults.pauses * midShare * 4)) return { ...base, pausesMs: dice.between(100, leaseMs * 3) };
    if (!storeKinds.has(asked.kind)) return base;
    const roll = dice.next();
    const deadlineMs = dice.chance(0.5) ? 2_000 : dice.between(1, 50);
    if (roll < faults.unknown * 0.1) return { ...base, lost: "late", deadlineMs, requestMs: deadlineMs + dice.between(0, leaseMs * 2) };
    if (roll < faults.unknown / 2) return { ...base, lost: "request", deadlineMs };
    if (roll < faults.unknown) return { ...base, lost: "answer", deadlineMs };
    return dice.chance(faults.doubled) && asked.kind === "append" ? { ...base, isDoubled: true } : base;
  };
}
