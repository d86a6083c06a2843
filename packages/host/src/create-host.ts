/*
 * Owns: the parts of one process and their order: its sessions, the health of its store, its work, and its shutdown.
 * Does not own: how callers reach it (a server).
 */
import type { Access, Agent, Runtime } from "@loopwright/core";
import { memoryQueue } from "@loopwright/core/memory";
import type { Clock, EventChannel, IdSource, Logger, RunQueue, SessionStore } from "@loopwright/core/ports";
import { hintOffers } from "./hints/offer-hint.ts";
import { checkLimits, defaultHostLimits, type HostLimits } from "./options/host-limits.ts";
import type { HostOptions } from "./options/host-options.ts";
import { createSessionHost } from "./sessions/create-session-host.ts";
import type { LoaderParts } from "./sessions/load-session.ts";
import type { CloseOptions, SessionHost } from "./sessions/session-host.ts";
import { type WatchedStore, watchStore } from "./store/store-health.ts";
import { createGracefulShutdown, type HandOverOptions } from "./work/graceful-shutdown.ts";
import { createRetentionSweep, type RetentionSweep } from "./work/retention-sweep.ts";
import { sweepIntervals } from "./work/sweep-intervals.ts";
import { runWork, type Work } from "./work/take-hints-and-sweep.ts";

/** One of the processes that share a store. It loads sessions, and runs them if its role includes that. */
export interface Host {
  /** Sessions that run in this process. */
  readonly running: number;
  /** False from `drain` on. */
  ready(): boolean;
  /** Takes no new work from now on. Open runs continue. */
  drain(): void;
  /**
   * Drains, waits until the runs of this process have ended (at most `withinMs`, default `limits.drainMs`), hands the others over to other nodes,
   * and closes. Resolves with the number of sessions that were handed over.
   */
  handOver(options?: HandOverOptions): Promise<number>;
  /**
   * Releases all sessions at once. Open runs are left as after a crash: the process that gets a hint from the queue, or the next sweep, continues
   * them. Store, channel and queue stay open. A second call does nothing.
   */
  close(): Promise<void>;
  /** The number of interrupted runs that were found in a scope; this process continues them. 0 if it runs no sessions. @throws AgentError STORE_* */
  recover(scope: string): Promise<number>;
  /** Calls the listener when the host closes, before its sessions are released. */
  onEnd(listener: () => void): void;
  readonly sessions: SessionHost;
  readonly runtime: Runtime;
  /** The agents of the runtime; empty if a function finds them. */
  readonly agents: readonly Agent[];
  /** The agent of this name. */
  findAgent(name: string, access: Access): Promise<Agent | undefined>;
  /** The store of the runtime; `health` observes its answers. */
  readonly store: SessionStore;
  readonly health: StoreHealth;
  readonly channel: EventChannel;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
}

/** What this process knows of its store. */
export type StoreHealth = Pick<WatchedStore, "isAway" | "flaw" | "damages" | "damaged">;

/** The optional parts of the runtime that are present. */
function givenParts({ observers, ledger, tokenCounter, scheduleRules, resolveModel, callGuard, leaseMs }: Runtime): Partial<LoaderParts> {
  return {
    ...(leaseMs === undefined ? {} : { leaseMs }),
    ...(observers.length > 0 ? { observers } : {}),
    ...(ledger ? { ledger } : {}),
    ...(tokenCounter ? { tokenCounter } : {}),
    ...(scheduleRules ? { scheduleRules } : {}),
    ...(resolveModel ? { resolveModel } : {}),
    ...(callGuard ? { callGuard } : {}),
  };
}

/** Creates a host. It looks for work at once if its role is to run sessions. @throws AgentError CONFIG_INVALID */
export function createHost(options: HostOptions): Host {
  const { runtime, role = "all", node } = options;
  const { agents, findAgent, channel, queue, clock, ids, logger } = runtime;
  checkLimits(options.limits ?? {});
  const limits = { ...defaultHostLimits, ...options.limits };
  const watched = watchStore(runtime.store, { logger, clock, probeMs: limits.probeMs });
  const { store } = watched;
  const isOneOfMany = options.isOneOfMany ?? (role !== "all" || queue !== undefined);
  // With a channel, a session polls its log only rarely. A channel that no other process shares announces no foreign append.
  const isShared = !runtime.hasOwnChannel || !isOneOfMany;
  if (isOneOfMany && channel.reach === "process") warnOfChannel(logger);
  const drives = role !== "server";
  const hints = queue ?? memoryQueue();
  const loggerOf = (scope: string): Logger => watched.loggerOf(scope);
  const sessions = createSessionHost({
    ...{ agents, findAgent, store, limits, clock, ids, logger, loggerOf, drives },
    ...(isShared ? { channel } : {}),
    ...(node === undefined ? {} : { node }),
    ...givenParts(runtime),
    ...(drives || !queue ? {} : { hint: hintOffers(queue, logger) }),
    ...(drives ? { workers: { offer: hintOffers(hints, logger), areMany: queue !== undefined } } : {}),
  });
  const shared = { host: sessions, store, limits, clock, ids, logger, queue: hints };
  const work = drives ? beginWork(options, shared) : undefined;
  const endListeners: (() => void)[] = [];
  const first = (): void => {
    erasing?.stop();
    for (const listener of endListeners.splice(0)) listener();
  };
  const erasing = beginErasing(options, shared);
  const shutdown = createGracefulShutdown({ host: sessions, work, clock, limits, first });
  const close = async (how?: CloseOptions): Promise<number> => {
    const count = await shutdown.close(how);
    watched.stop();
    return count;
  };
  return {
    ...{ runtime, sessions, agents, findAgent, store, health: watched, channel, clock, ids, logger },
    get running() {
      return sessions.running;
    },
    ready: () => shutdown.isReady,
    drain: shutdown.drain,
    async handOver(how) {
      await shutdown.rest(how);
      return close({ handsOver: true });
    },
    close: async () => void (await close()),
    recover: async (scope) => work?.recover(scope) ?? 0,
    onEnd: (listener) => void endListeners.push(listener),
  };
}

interface SharedParts {
  readonly host: SessionHost;
  readonly store: SessionStore;
  readonly limits: HostLimits;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  readonly queue: RunQueue;
}

function beginWork({ runtime: { queue }, role = "all", isOneOfMany }: HostOptions, shared: SharedParts): Work {
  const { limits, store } = shared;
  const isAlone = role === "all" && !isOneOfMany;
  const intervals = sweepIntervals(limits, { isHinted: queue !== undefined || isAlone, isFree: store.log.subscribe !== undefined });
  return runWork({ ...shared, ...intervals, keepsAlive: role === "worker" });
}

/** Begins sweeps for the retention of scopes, if the options have rules and the process runs sessions. */
function beginErasing({ retention: rules, role }: HostOptions, { limits, store, ...shared }: SharedParts): RetentionSweep | undefined {
  if (!rules || role === "server") return undefined;
  const { retentionSweepMs: everyMs, sessionsPerSweep } = limits;
  return createRetentionSweep({ ...shared, rules, index: store.index, everyMs, sessionsPerSweep, keepsAlive: role === "worker" });
}

/** Durable events come from the log in any case; the text deltas of a model come only over a channel. */
function warnOfChannel(logger: Logger): void {
  const message =
    "This is one of several processes, and its event channel reaches none of the others: their clients do not see text while it is written.";
  logger.log("warn", message, { fix: "Pass a `channel` that all of them share." });
}
