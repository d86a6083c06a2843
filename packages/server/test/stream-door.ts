import type { Agent } from "@loopwright/core";
import { memoryChannel, randomIds, silentLogger, systemClock } from "@loopwright/core/memory";
import type { Clock, EventChannel, IdSource, Logger, SessionStore } from "@loopwright/core/ports";
import type { AgentServer } from "../src/create-server.ts";
import { createDoor } from "../src/http/create-door.ts";
import { createOpenRuns } from "../src/http/open-runs.ts";
import { createRateLimiter } from "../src/http/rate-limiter.ts";
import { createRequestMetrics } from "../src/http/request-metrics.ts";
import { routeTable } from "../src/http/route-table.ts";
import { defaultServerLimits, type ServerLimits } from "../src/server-limits.ts";
import type { Principal } from "../src/server-options.ts";
import type { ServerScene } from "../src/server-scene.ts";
import { createSessionHost } from "../src/sessions/create-session-host.ts";
import type { HostedSession } from "../src/sessions/session-host.ts";
import { createStreamRegistry } from "../src/stream/create-stream-registry.ts";
import type { OpenSink } from "../src/stream/event-sink.ts";
import { openWebSink } from "../src/stream/web-sink.ts";

export interface DoorOptions {
  readonly agents: readonly Agent[];
  readonly store: SessionStore;
  readonly limits?: Partial<ServerLimits>;
  readonly clock?: Clock;
  readonly ids?: IdSource;
  readonly channel?: EventChannel;
  readonly logger?: Logger;
  /** Given the sinks of all streams, whoever opens them. */
  readonly spoil?: (openSink: OpenSink) => OpenSink;
}

/** What `createServer` makes, with a view of what is inside: who is counted, loaded and watched. */
export interface StreamDoor extends AgentServer {
  readonly scene: ServerScene;
  /** A session that exists, with its first fact in the log. */
  open(id: string, principal?: Principal): Promise<void>;
  /** Does something with a loaded session. */
  use<Result>(id: string, work: (hosted: HostedSession) => Result | Promise<Result>, scope?: string): Promise<Result>;
}

/** High enough that only the limits of streams are met. */
const generous: Partial<ServerLimits> = {
  requestsPerMinute: 10_000_000,
  writesPerMinute: 10_000_000,
  streamsPerPrincipal: 5_000,
  streamsPerScope: 5_000,
  runsPerPrincipal: 10_000,
};

/** Who calls is what `Authorization: Bearer <user>@<scope>` says; nobody who says nothing is refused. */
export function openStreamDoor(options: DoorOptions): StreamDoor {
  const { agents, store, clock = systemClock, ids = randomIds, logger = silentLogger, spoil = (openSink) => openSink } = options;
  const channel = options.channel ?? memoryChannel();
  const limits: ServerLimits = { ...defaultServerLimits, ...generous, ...options.limits };
  const given = { agents, store, authenticate: principalOf };
  const streams = createStreamRegistry(limits, { clock, ids });
  const host = createSessionHost({ options: given, limits, channel, clock, ids, logger });
  const scene: ServerScene = {
    ...{ options: given, limits, channel, clock, ids, logger, host, streams },
    runs: createOpenRuns(limits.runsPerPrincipal),
    metrics: createRequestMetrics(),
    isReady: () => true,
  };
  const rates = createRateLimiter(limits, clock);
  const answer = createDoor(routeTable, { scene, rates });

  return {
    scene,
    fetch: (request, env = {}) => answer(request, { ...env, openSink: spoil(env.openSink ?? openWebSink) }),
    notify: (scope, notification) => channel.notify(scope, notification),
    recover: (scope) => host.recover(scope),
    get running() {
      return host.running;
    },
    ready: () => true,
    drain() {},
    hasAuthentication: true,
    basePath: "",
    async open(id, principal = local) {
      const hosted = await host.create(principal, { id });
      await hosted.session.open();
      hosted.release();
    },
    async use(id, work, scope = "local") {
      const hosted = await host.open({ scope, session: id });
      try {
        return await work(hosted);
      } finally {
        hosted.release();
      }
    },
    async close() {
      streams.close();
      await host.close();
      rates.close();
    },
  };
}

const local: Principal = { user: "local", scope: "local", trusted: true };

function principalOf(request: Request): Principal {
  const [, user, scope] = /^Bearer ([^@]+)@(.+)$/.exec(request.headers.get("Authorization") ?? "") ?? [];
  return user === undefined || scope === undefined ? local : { user, scope };
}
