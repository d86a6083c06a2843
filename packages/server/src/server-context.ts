import type { Agent } from "@loopwright/core";
import type { Clock, EventChannel, IdSource, Logger, SessionStore } from "@loopwright/core/ports";
import type { Host, SessionHost, StoreHealth } from "@loopwright/host";
import type { CookieCheckCache } from "./cookie-check-cache.ts";
import type { OpenRuns } from "./meters/open-run-limit.ts";
import type { RateLimiter } from "./meters/rate-limiter.ts";
import type { RequestMetrics } from "./meters/request-metrics.ts";
import type { SentFiles } from "./meters/sent-bytes-limit.ts";
import type { HttpLimits } from "./server-limits.ts";
import type { HttpOptions } from "./server-options.ts";
import type { SessionFeeds } from "./stream/session-feeds.ts";
import type { StreamRegistry } from "./stream/stream-registry.ts";

/** The options of a server, and parts of its host. */
export interface ServedOptions extends HttpOptions {
  /** The first is the default. Empty if a function finds the agents. */
  readonly agents: readonly Agent[];
  readonly findAgent: Host["findAgent"];
  readonly store: SessionStore;
}

/** Everything that the routes work with. */
export interface ServerContext {
  readonly options: ServedOptions;
  readonly limits: HttpLimits;
  readonly channel: EventChannel;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  readonly host: SessionHost;
  readonly feeds: SessionFeeds;
  readonly streams: StreamRegistry;
  readonly runs: OpenRuns;
  /** The OpenAPI document of all routes, as JSON. */
  readonly description: () => string;
  readonly files: SentFiles;
  readonly rates: RateLimiter;
  /** Verdicts on the credentials of cookies. */
  readonly verdicts: CookieCheckCache;
  readonly metrics: RequestMetrics;
  /** False while the server shuts down. */
  isReady(): boolean;
  /** The health of the store. */
  readonly watched: StoreHealth;
}
