/*
 * Owns: the one store of the world: a log in memory with delays and outages. It may lose a write that was in progress when its machine died, and never
 * an acknowledged one.
 * Does not own: which request is late or lost (fate), the meaning of facts.
 */
import { AgentError, type Fact } from "@loopwright/core";
import { memoryStore } from "@loopwright/core/memory";
import {
  type AppendOutcome,
  type AppendRequest,
  refKey,
  type SessionLog,
  type SessionRef,
  type SessionStore,
} from "@loopwright/core/ports";
import type { Dice } from "./dice.ts";
import type { SimulatedNode } from "./simulated-node.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** A claim that the store has granted. */
export interface Claimed {
  readonly session: string;
  readonly node: string;
  readonly epoch: number;
  /** The last number of the log at that time. */
  readonly lastSeq: number;
  readonly atMs: number;
}

export interface SimulatedStore {
  /** The store itself, without delays and faults, for checks from outside. */
  readonly truth: SessionStore;
  /** The store for one process. `isDeaf`: its log has no `subscribe`, so the process must poll. */
  viewOf(node: SimulatedNode, options: { readonly isDeaf: boolean }): SessionStore;
  readonly claims: readonly Claimed[];
  /** Facts and ended runs of a session. */
  counted(ref: SessionRef): { readonly facts: number; readonly runs: number };
  /** When each fact became durable. */
  writtenAtMs(ref: SessionRef, seq: number): number;
  /** Makes the store unreachable for this process for that long. */
  cutOff(node: string, forMs: number): void;
  /** Makes the store unreachable for all processes for that long. */
  goAway(forMs: number): void;
  readonly isAway: boolean;
  /** Sessions to which this process is subscribed. */
  listensTo(node: string): ReadonlySet<string>;
  /** Makes the store reachable for every process. */
  readonly isReachable: boolean;
  /** Kills its machine: each write in progress is kept whole or not at all, without an answer. */
  loseUnsynced(): void;
}

export interface StoreOptions {
  readonly time: VirtualTime;
  readonly dice: Dice;
  /** Puts a flaw into the log, for tests of the checker. */
  readonly spoil?: (log: SessionLog) => SessionLog;
}

/** How long a write takes until it is durable. */
const syncMs = 1.5;

export function createStore({ time, dice, spoil }: StoreOptions): SimulatedStore {
  const clock = { now: () => time.nowMs, monotonic: () => time.nowMs, after: () => () => {}, soon: () => {} };
  const truth = memoryStore({ clock });
  const log = spoil ? spoil(truth.log) : truth.log;
  const claims: Claimed[] = [];
  const written = new Map<string, number[]>();
  const ended = new Map<string, number>();
  const cutUntilMs = new Map<string, number>();
  const listeners = new Set<Subscriber>();
  let awayUntilMs = 0;
  /** Incremented at each death of the machine: writes from before get no answer. */
  let life = 0;

  const noteWritten = ({ scope, session }: SessionRef, lastSeq: number, { facts }: AppendRequest): void => {
    const runs = facts.filter(({ type }) => type === "run.finished").length;
    ended.set(refKey({ scope, session }), (ended.get(refKey({ scope, session })) ?? 0) + runs);
    const moments = written.get(refKey({ scope, session })) ?? [];
    while (moments.length < lastSeq) moments.push(time.nowMs);
    written.set(refKey({ scope, session }), moments);
  };
  const append = async (ref: SessionRef, request: AppendRequest): Promise<AppendOutcome> => {
    const born = life;
    await new Promise<void>((resolve) => void time.schedule(syncMs, resolve));
    // The machine died before the write was durable: a part of it may be on the disk, and is removed as a torn write.
    if (born !== life && dice.chance(0.5)) return { type: "unknown" };
    const outcome = await log.append(ref, request);
    if (outcome.type === "ok") noteWritten(ref, outcome.lastSeq, request);
    return born === life ? outcome : { type: "unknown" };
  };
  const claim: SessionLog["claim"] = async (ref, options) => {
    const outcome = await log.claim(ref, options);
    if (outcome.type === "claimed") {
      const { epoch, lastSeq } = outcome;
      claims.push({ session: ref.session, node: options.node, epoch, lastSeq, atMs: time.nowMs });
    }
    return outcome;
  };
  const isAway = (): boolean => time.nowMs < awayUntilMs;

  return {
    truth,
    claims,
    counted: ({ scope, session }) => ({
      facts: written.get(refKey({ scope, session }))?.length ?? 0,
      runs: ended.get(refKey({ scope, session })) ?? 0,
    }),
    writtenAtMs: ({ scope, session }, seq) => written.get(refKey({ scope, session }))?.[seq - 1] ?? Number.POSITIVE_INFINITY,
    get isAway() {
      return isAway();
    },
    listensTo: (node) => new Set([...listeners].flatMap((subscriber) => (subscriber.node === node ? subscriber.session : []))),
    get isReachable() {
      return !isAway() && [...cutUntilMs.values()].every((untilMs) => untilMs <= time.nowMs);
    },
    cutOff: (node, forMs) => void cutUntilMs.set(node, time.nowMs + forMs),
    goAway(forMs) {
      awayUntilMs = Math.max(awayUntilMs, time.nowMs + forMs);
    },
    loseUnsynced() {
      life += 1;
    },
    viewOf: (node, { isDeaf }) =>
      viewOf({
        node,
        truth,
        isDeaf,
        isAway: () => isAway() || time.nowMs < (cutUntilMs.get(node.name) ?? 0),
        time,
        dice,
        log: { ...log, append, claim },
        listeners,
      }),
  };
}

/** The subscription of a process to a session. */
interface Subscriber {
  readonly node: string;
  readonly session: string;
}

interface View {
  readonly listeners: Set<Subscriber>;
  readonly node: SimulatedNode;
  readonly truth: SessionStore;
  readonly log: SessionLog;
  readonly isDeaf: boolean;
  readonly isAway: () => boolean;
  readonly time: VirtualTime;
  readonly dice: Dice;
}

const unavailable = (): never => {
  throw new AgentError("STORE_UNAVAILABLE", { message: "The simulated store did not answer." });
};

function viewOf(view: View): SessionStore {
  const { node, truth, isAway } = view;
  const ask = <T>(kind: string, detail: string, run: () => Promise<T>): Promise<T> =>
    node.ask({ kind, detail, run, lost: unavailable, isAway });
  const { blobs, snapshots, index } = truth;
  return {
    log: logView(view, ask),
    index,
    blobs: {
      put: (scope, key, blob) => ask("blob-put", key, () => blobs.put(scope, key, blob)),
      get: (scope, key, options) => ask("blob-get", key, () => blobs.get(scope, key, options)),
      own: (scope, key, session) => ask("blob-own", key, () => blobs.own(scope, key, session)),
      remove: (scope, key, options) => ask("blob-remove", key, () => blobs.remove(scope, key, options)),
      list: (scope, options) => ask("blob-list", "", () => blobs.list(scope, options)),
    },
    snapshots: {
      put: (ref, name, value) => ask("snapshot-put", name, () => snapshots.put(ref, name, value)),
      get: (ref, name) => ask("snapshot-get", name, () => snapshots.get(ref, name)),
      remove: (ref, name) => ask("snapshot-remove", name, () => snapshots.remove(ref, name)),
    },
    async close() {},
  };
}

function logView(view: View, ask: <T>(kind: string, detail: string, run: () => Promise<T>) => Promise<T>): SessionLog {
  const { node, log, isAway, isDeaf } = view;
  return {
    append: (ref, request) =>
      node.ask({
        kind: "append",
        detail: describe(ref, request),
        run: () => log.append(ref, request),
        lost: () => ({ type: "unknown" }),
        isAway,
      }),
    read: (ref, options) => ask("read", `${ref.session} from ${options?.from ?? 1}`, () => log.read(ref, options)),
    head: (ref) => ask("head", ref.session, () => log.head(ref)),
    claim: (ref, claim) => ask("claim", ref.session, () => log.claim(ref, claim)),
    renew: (ref, lease) => ask("renew", `${ref.session} ${lease.epoch}`, () => log.renew(ref, lease)),
    renewAll: (renewals) =>
      ask("renew", renewals.map(({ ref, epoch }) => `${ref.session} ${epoch}`).join(), () =>
        Promise.all(renewals.map(({ ref, ...lease }) => log.renew(ref, lease))),
      ),
    release: (ref, epoch) => ask("release", `${ref.session} ${epoch}`, () => log.release(ref, epoch)),
    due: (options) => ask("due", "", () => log.due(options)),
    setDue: (ref, options) => ask("set-due", ref.session, () => log.setDue(ref, options)),
    remove: (ref) => ask("remove", ref.session, () => log.remove(ref)),
    ...(isDeaf ? {} : { subscribe: listening(view) }),
  };
}

/** Notifies subscribers of every append, a little later. */
function listening({ node, log, time, dice, listeners }: View): NonNullable<SessionLog["subscribe"]> {
  return (ref, listener) => {
    let isOn = true;
    const subscriber: Subscriber = { node: node.name, session: ref.session };
    listeners.add(subscriber);
    const stop = log.subscribe?.(ref, (lastSeq) => {
      time.schedule(dice.between(0.1, 5), () => node.enter(() => isOn && listener(lastSeq)));
    });
    return () => {
      isOn = false;
      listeners.delete(subscriber);
      stop?.();
    };
  };
}

function describe({ session }: SessionRef, { expectedSeq, epoch, facts, due, release }: AppendRequest): string {
  const types = facts.map(({ type }) => type).join();
  return `${session} at ${expectedSeq} epoch ${epoch ?? "none"} [${types}] due ${String(due)}${release ? " release" : ""}`;
}

/** All facts of a session, from the store itself. */
export function factsOf({ truth }: SimulatedStore, ref: SessionRef): Promise<readonly Fact[]> {
  return truth.log.read(ref);
}
