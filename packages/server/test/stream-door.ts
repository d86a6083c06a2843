import type { Agent } from "@loopwright/core";
import { memoryChannel, randomIds, silentLogger, systemClock } from "@loopwright/core/memory";
import type { Clock, EventChannel, IdSource, Logger, Notification, RunQueue, SessionStore } from "@loopwright/core/ports";
import { createHost, type HostedSession, type HostOptions } from "@loopwright/host";
import type { AgentServer } from "../src/agent-server.ts";
import { serverOf } from "../src/create-server.ts";
import { routeTable } from "../src/http/route-table.ts";
import { accessOf } from "../src/identity/access-of-principal.ts";
import { serveHost } from "../src/serve-host.ts";
import type { ServerContext } from "../src/server-context.ts";
import type { ServerLimits } from "../src/server-limits.ts";
import type { Principal } from "../src/server-options.ts";
import type { OpenSink } from "../src/stream/event-sink.ts";
import type { SessionFeed } from "../src/stream/session-feed.ts";
import { openWebSink } from "../src/stream/web-sink.ts";
import type { StreamDialect } from "../src/stream-dialect.ts";
import { withRuntime } from "./serve.ts";

export interface DoorOptions {
  readonly agents: readonly Agent[];
  readonly store: SessionStore;
  readonly limits?: Partial<ServerLimits>;
  readonly clock?: Clock;
  readonly ids?: IdSource;
  readonly channel?: EventChannel;
  readonly logger?: Logger;
  readonly leaseMs?: number;
  readonly queue?: RunQueue;
  readonly dialects?: readonly StreamDialect[];
  /** Default `all`. A worker has the routes of a server here, so that it can be asked how it stands. */
  readonly role?: NonNullable<HostOptions["role"]>;
  /** Given the sinks of all streams, of any reader. */
  readonly spoil?: (openSink: OpenSink) => OpenSink;
}

/** A session that is lent, with the feed of its events. */
export interface WatchedSession extends HostedSession {
  readonly feed: SessionFeed;
}

/** What `createServer` makes, with a view of what is inside: which streams and sessions are counted, loaded and watched. */
export interface StreamDoor extends AgentServer {
  readonly context: ServerContext;
  /** A session that exists, with its first fact in the log. */
  open(id: string, principal?: Principal): Promise<void>;
  /** Does something with a loaded session. */
  use<Result>(id: string, work: (hosted: WatchedSession) => Result | Promise<Result>, scope?: string): Promise<Result>;
}

/** High enough that only the limits of streams are met. */
const generous: Partial<ServerLimits> = {
  requestsPerMinute: 10_000_000,
  writesPerMinute: 10_000_000,
  streamsPerPrincipal: 5_000,
  streamsPerScope: 5_000,
  runsPerPrincipal: 10_000,
};

/** The caller is what `Authorization: Bearer <user>@<scope>` states; a caller without it is not refused. */
export function openStreamDoor(options: DoorOptions): StreamDoor {
  const { spoil = (openSink) => openSink, role = "all", limits, ...more } = options;
  const given = {
    ...{ clock: systemClock, ids: randomIds, logger: silentLogger, channel: memoryChannel(), authenticate: principalOf, ...more },
    limits: { ...generous, ...limits },
  };
  const node = createHost(withRuntime({ ...given, role }));
  const served = serveHost(node, given, routeTable);
  const server = serverOf(node, served, true);
  const { context, fetch } = served;
  const { host } = context;

  return Object.assign(server, {
    context,
    notify: (scope: string, notification: Notification) => context.channel.notify(scope, notification),
    fetch: ((request, env = {}) => fetch(request, { ...env, openSink: spoil(env.openSink ?? openWebSink) })) satisfies AgentServer["fetch"],
    async open(id: string, principal: Principal = local) {
      const hosted = await host.create(accessOf(principal), { id });
      await hosted.session.open();
      hosted.release();
    },
    async use<Result>(id: string, use: (hosted: WatchedSession) => Result | Promise<Result>, scope = "local") {
      const hosted = await host.open({ scope, session: id });
      try {
        return await use(Object.assign(hosted, { feed: context.feeds.of(hosted) }));
      } finally {
        hosted.release();
      }
    },
  });
}

const local: Principal = { user: "local", scope: "local", trusted: true };

function principalOf(request: Request): Principal {
  const [, user, scope] = /^Bearer ([^@]+)@(.+)$/.exec(request.headers.get("Authorization") ?? "") ?? [];
  return user === undefined || scope === undefined ? local : { user, scope };
}
