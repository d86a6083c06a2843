/*
 * Owns: how the parts of one process go together: its sessions, the watch over its store, its work, and its end.
 * Does not own: how callers reach it (a server).
 */
import type { Access, Agent, Runtime } from "@loopwright/core";
import { memoryQueue } from "@loopwright/core/memory";
import type { Clock, EventChannel, IdSource, Logger, SessionStore } from "@loopwright/core/ports";
import { hintOffers } from "./hints/hint-offers.ts";
import { checkLimits, defaultHostLimits, type HostLimits } from "./options/host-limits.ts";
import type { HostOptions } from "./options/host-options.ts";
import { createSessionHost } from "./sessions/create-session-host.ts";
import type { CloseOptions, SessionHost } from "./sessions/session-host.ts";
import { type WatchedStore, watchStore } from "./store/watched-store.ts";
import { createGracefulShutdown, type HandOverOptions } from "./work/graceful-shutdown.ts";
import { runWork, type Work } from "./work/run-work.ts";

/** One process of those that share a store: it loads sessions, and runs them where its role says so. */
export interface Host {
  /** Sessions that run in this process. */
  readonly running: number;
  /** False from `drain` on. */
  ready(): boolean;
  /** Takes no new work from now on; what runs goes on. */
  drain(): void;
  /**
   * Drains, waits until what runs here has come to rest, at most so long (default `limits.drainMs`), gives the rest to other nodes in order,
   * and closes. Resolves with how many sessions were handed over.
   */
  handOver(options?: HandOverOptions): Promise<number>;
  /**
   * Lets go of all sessions at once: what runs is left, as after a crash, to the process that the queue tells or the next one that looks.
   * Store, channel and queue stay open. Twice is once.
   */
  close(): Promise<void>;
  /** How many runs of a scope were found that a process had left behind: this one goes on with them. 0 where it runs none. @throws AgentError STORE_* */
  recover(scope: string): Promise<number>;
  /** Calls the listener when the host ends, before its sessions are let go of. */
  onEnd(listener: () => void): void;
  readonly sessions: SessionHost;
  readonly runtime: Runtime;
  /** Those of the runtime; empty where they are found by a function. */
  readonly agents: readonly Agent[];
  /** The agent of this name. */
  findAgent(name: string, access: Access): Promise<Agent | undefined>;
  /** The store of the runtime; what it answers is heard by `health`. */
  readonly store: SessionStore;
  readonly health: StoreHealth;
  readonly channel: EventChannel;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
}

/** What this process knows of its store. */
export type StoreHealth = Pick<WatchedStore, "isAway" | "flaw" | "damages" | "damaged">;

/** Begins at once to look for work, where its role is to run sessions. @throws AgentError CONFIG_INVALID */
export function createHost(options: HostOptions): Host {
  const { runtime, role = "all", node } = options;
  const { agents, findAgent, channel, queue, observers, clock, ids, logger, leaseMs } = runtime;
  checkLimits(options.limits ?? {});
  const limits = { ...defaultHostLimits, ...options.limits };
  const watched = watchStore(runtime.store, { logger, clock, probeMs: limits.probeMs });
  const { store } = watched;
  const isOneOfMany = options.isOneOfMany ?? (role !== "all" || queue !== undefined);
  // With a channel a session polls its log seldom. A channel that no other process shares announces no foreign append.
  const isShared = !runtime.hasOwnChannel || !isOneOfMany;
  if (isOneOfMany && channel.reach === "process") warnOfChannel(logger);
  const drives = role !== "server";
  const loggerOf = (scope: string): Logger => watched.loggerOf(scope);
  const sessions = createSessionHost({
    ...{ agents, findAgent, store, limits, clock, ids, logger, loggerOf, drives },
    ...(isShared ? { channel } : {}),
    ...(leaseMs === undefined ? {} : { leaseMs }),
    ...(node === undefined ? {} : { node }),
    ...(observers.length > 0 ? { observers } : {}),
    ...(drives || !queue ? {} : { hint: hintOffers(queue, logger) }),
  });
  const shared = { host: sessions, store, limits, clock, ids, logger };
  const work = drives ? beginWork(options, shared) : undefined;
  const endListeners: (() => void)[] = [];
  const first = (): void => {
    for (const listener of endListeners.splice(0)) listener();
  };
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
}

function beginWork({ runtime: { queue }, role = "all", isOneOfMany }: HostOptions, shared: SharedParts): Work {
  const { limits, store } = shared;
  const isAlone = role === "all" && !isOneOfMany;
  // Where nobody tells of what others leave behind, it is looked for often.
  const sweepMs = queue || isAlone ? limits.sweepMs : limits.pollMs;
  // A log that cannot tell of appends is one where each look is a request that costs: it is looked at less while there is nothing to do.
  const idleSweepMs = store.log.subscribe ? sweepMs : limits.sweepMs;
  return runWork({ ...shared, queue: queue ?? memoryQueue(), sweepMs, idleSweepMs, keepsAlive: role === "worker" });
}

/** Durable events come from the log anyway; what a model says comes only over a channel. */
function warnOfChannel(logger: Logger): void {
  const message =
    "This is one of several processes, and its event channel reaches none of the others: text is not told there as it is said.";
  logger.log("warn", message, { fix: "Pass a `channel` that all of them share." });
}
