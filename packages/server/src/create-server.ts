import { AgentError, failureOf } from "@loopwright/core";
import { consoleLogger, memoryChannel, randomIds, systemClock } from "@loopwright/core/memory";
import type { Notification } from "@loopwright/core/ports";
import { createDoor } from "./http/create-door.ts";
import { createOpenRuns } from "./http/open-runs.ts";
import { createRateLimiter } from "./http/rate-limiter.ts";
import { createRequestMetrics } from "./http/request-metrics.ts";
import { routeTable } from "./http/route-table.ts";
import type { ServerEnv } from "./http/server-env.ts";
import { withModules } from "./modules/with-modules.ts";
import { defaultServerLimits } from "./server-limits.ts";
import type { ServerOptions } from "./server-options.ts";
import type { ServerScene } from "./server-scene.ts";
import { createSessionHost } from "./sessions/create-session-host.ts";
import { createStreamRegistry } from "./stream/create-stream-registry.ts";

/** Agents behind HTTP. */
export interface AgentServer {
  /** Answers one request. Never rejects. */
  fetch(request: Request, env?: ServerEnv): Promise<Response>;
  /** Tells everybody of a scope who listens to `/api/notifications`, or the one user it is for. @throws AgentError INPUT_INVALID */
  notify(scope: string, notification: Notification): void;
  /** Goes on with the runs of a scope that a process left behind; resolves with how many. Without `authenticate` the scope `local` is begun with. */
  recover(scope: string): Promise<number>;
  /** Sessions of this process that do not rest. */
  readonly running: number;
  /** False from `drain` on. */
  ready(): boolean;
  /** Takes no new work from now on; what runs goes on. */
  drain(): void;
  /** Ends all streams and lets go of all sessions: what runs is left to the next process. The store stays open. Twice is once. */
  close(): Promise<void>;
  /** Whether callers must say who they are. */
  readonly hasAuthentication: boolean;
  /** In front of every route; empty for none. */
  readonly basePath: string;
}

/** A server over a store. Any number of them may share it. @throws AgentError CONFIG_INVALID */
export function createServer(given: ServerOptions): AgentServer {
  const options = checked(given);
  const { clock = systemClock, ids = randomIds, logger = consoleLogger() } = options;
  const channel = options.channel ?? memoryChannel({ logger });
  const limits = { ...defaultServerLimits, ...options.limits };
  const streams = createStreamRegistry(limits, { clock, ids });
  const host = createSessionHost({ options, limits, channel, clock, ids, logger });
  const rates = createRateLimiter(limits, clock);
  let isReady = true;
  const scene: ServerScene = {
    ...{ options, limits, channel, clock, ids, logger, host, streams },
    runs: createOpenRuns(limits.runsPerPrincipal),
    metrics: createRequestMetrics(),
    isReady: () => isReady,
  };
  if (!options.authenticate)
    host.recover("local").catch((error: unknown) => {
      if (isReady) logger.log("error", "Runs that were left behind could not be looked for.", { code: failureOf(error).code });
    });
  let closing: Promise<void> | undefined;

  async function close(): Promise<void> {
    isReady = false;
    streams.close();
    await host.close();
    rates.close();
  }

  return {
    fetch: createDoor(routeTable, { scene, rates }),
    notify: (scope, notification) => channel.notify(scope, checkedNotification(notification)),
    recover: (scope) => host.recover(scope),
    get running() {
      return host.running;
    },
    ready: () => isReady,
    drain() {
      isReady = false;
    },
    close() {
      closing ??= close();
      return closing;
    },
    hasAuthentication: options.authenticate !== undefined,
    basePath: options.basePath ?? "",
  };
}

function checkedNotification(notification: Notification): Notification {
  if (/^[a-z][a-z0-9_]{0,63}$/.test(notification.type)) return notification;
  throw new AgentError("INPUT_INVALID", {
    message: "The type of the notification is not usable.",
    fix: "Use a name like `job_progress`: small letters, digits and _, at most 64.",
  });
}

/** The options with their agents told of the modules. */
function checked(options: ServerOptions): ServerOptions {
  const { agents, basePath = "", modules, limits = {}, origins = [] } = options;
  const invalid = (message: string, fix: string): AgentError => new AgentError("CONFIG_INVALID", { message, fix });
  if (agents.length === 0) throw invalid("The server has no agent.", "Pass at least one in `agents`.");
  if (new Set(agents.map(({ name }) => name)).size < agents.length)
    throw invalid("Two agents have the same name.", "Give every agent a name of its own.");
  if (!/^(?:\/[A-Za-z0-9._~-]+)*$/.test(basePath))
    throw invalid("`basePath` is no path.", "Use one like `/agents`, without a slash at its end.");
  for (const origin of origins)
    if (!URL.canParse(origin) || new URL(origin).origin !== origin)
      throw invalid("`origins` holds what is no origin.", "Use ones like `https://app.example.com`, without a path.");
  for (const [name, value] of Object.entries(limits))
    if (!Number.isInteger(value) || value < 1) throw invalid(`\`limits.${name}\` is ${String(value)}.`, "Use a whole number from 1 on.");
  return modules ? { ...options, agents: agents.map((agent) => withModules(agent, modules)) } : options;
}
