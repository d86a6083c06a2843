import { consoleLogger, memoryChannel, memoryQueue, randomIds, systemClock } from "@loopwright/core/memory";
import type { Logger } from "@loopwright/core/ports";
import { checkedOptions } from "../checked-options.ts";
import { createDoor } from "../http/create-door.ts";
import { createOpenRuns } from "../http/open-runs.ts";
import { createRateLimiter } from "../http/rate-limiter.ts";
import { createRequestMetrics } from "../http/request-metrics.ts";
import type { Route } from "../http/route.ts";
import { createSentFiles } from "../http/sent-files.ts";
import type { ServerEnv } from "../http/server-env.ts";
import { defaultServerLimits } from "../server-limits.ts";
import type { ServerOptions } from "../server-options.ts";
import type { ServerScene } from "../server-scene.ts";
import { createSessionHost } from "../sessions/create-session-host.ts";
import type { CloseOptions } from "../sessions/session-host.ts";
import { watchStore } from "../sessions/watched-store.ts";
import { createStreamRegistry } from "../stream/create-stream-registry.ts";
import { createSessionFeeds } from "../stream/session-feeds.ts";
import { hintOffers } from "./hint-offers.ts";
import { createLeaving, type HandOverOptions } from "./leaving.ts";
import { runWork, type Work } from "./run-work.ts";

/** One process of those that share a store, as all roles have it. */
export interface RuntimeNode {
  /** Answers one request. Never rejects. */
  fetch(request: Request, env?: ServerEnv): Promise<Response>;
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
   * Ends all streams and lets go of all sessions at once: what runs is left, as after a crash, to the process that the queue tells or the next
   * one that looks. Store, channel and queue stay open. Twice is once.
   */
  close(): Promise<void>;
  /** Whether callers must say who they are. */
  readonly hasAuthentication: boolean;
  /** In front of every route; empty for none. */
  readonly basePath: string;
}

/** What a node is made of, for the doors of the roles. */
export interface NodeParts {
  readonly node: RuntimeNode;
  readonly scene: ServerScene;
  /** Absent where nothing is run. */
  readonly work: Work | undefined;
}

export interface NodeRole {
  readonly role: "all" | "server" | "worker";
  readonly routes: readonly Route[];
}

/** @throws AgentError CONFIG_INVALID */
export function createNode(given: ServerOptions, { role, routes }: NodeRole): NodeParts {
  const checked = checkedOptions(given);
  const { clock = systemClock, ids = randomIds, logger = consoleLogger() } = checked;
  const limits = { ...defaultServerLimits, ...checked.limits };
  const watched = watchStore(checked.store, { logger, clock, probeMs: limits.probeMs });
  const { store } = watched;
  const options = { ...checked, store };
  const isOneOfMany = options.isOneOfMany ?? (role !== "all" || options.queue !== undefined);
  const channel = options.channel ?? memoryChannel({ logger });
  if (isOneOfMany && channel.reach === "process") warnOfChannel(logger);
  const drives = role !== "server";
  const loggerOf = (scope: string): Logger => watched.loggerOf(scope);
  const parts = { options, limits, channel, clock, ids, logger, loggerOf, drives };
  const host = createSessionHost(drives || !options.queue ? parts : { ...parts, hint: hintOffers(options.queue, logger) });
  const isAlone = role === "all" && !options.isOneOfMany;
  // Where nobody tells of what others leave behind, it is looked for often.
  const sweepMs = options.queue || isAlone ? limits.sweepMs : limits.pollMs;
  // A log that cannot tell of appends is one where each look is a request that costs: it is looked at less while there is nothing to do.
  const idleSweepMs = store.log.subscribe ? sweepMs : limits.sweepMs;
  const queue = options.queue ?? memoryQueue();
  const work = drives
    ? runWork({ ...{ host, store, queue, limits, clock, ids, logger, sweepMs, idleSweepMs }, keepsAlive: role === "worker" })
    : undefined;
  const feeds = createSessionFeeds(host, { store, limits, clock, logger });
  const streams = createStreamRegistry(limits, { clock, ids });
  const rates = createRateLimiter(limits, clock);
  const leaving = createLeaving({ host, work, clock, limits, first: () => streams.close() });
  const scene: ServerScene = {
    ...{ options, limits, channel, clock, ids, logger, host, feeds, streams },
    runs: createOpenRuns(limits.runsPerPrincipal),
    files: createSentFiles(limits),
    metrics: createRequestMetrics(),
    isReady: () => leaving.isReady,
    watched,
  };
  const close = async (how?: CloseOptions): Promise<number> => {
    const count = await leaving.close(how);
    rates.close();
    watched.stop();
    return count;
  };
  const node: RuntimeNode = {
    fetch: createDoor(routes, { scene, rates }),
    get running() {
      return host.running;
    },
    ready: () => leaving.isReady,
    drain: leaving.drain,
    async handOver(how) {
      await leaving.rest(how);
      return close({ handsOver: true });
    },
    close: async () => void (await close()),
    hasAuthentication: options.authenticate !== undefined,
    basePath: options.basePath ?? "",
  };
  return { node, scene, work };
}

/** Durable events come from the log anyway; what a model says comes only over a channel. */
function warnOfChannel(logger: Logger): void {
  const message =
    "This is one of several processes, and its event channel reaches none of the others: text is not told there as it is said.";
  logger.log("warn", message, { fix: "Pass a `channel` that all of them share." });
}
