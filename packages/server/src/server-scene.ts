import type { Clock, EventChannel, IdSource, Logger } from "@loopwright/core/ports";
import type { OpenRuns } from "./http/open-runs.ts";
import type { RequestMetrics } from "./http/request-metrics.ts";
import type { SentFiles } from "./http/sent-files.ts";
import type { ServerLimits } from "./server-limits.ts";
import type { ServerOptions } from "./server-options.ts";
import type { SessionHost } from "./sessions/session-host.ts";
import type { WatchedStore } from "./sessions/watched-store.ts";
import type { SessionFeeds } from "./stream/session-feeds.ts";
import type { StreamRegistry } from "./stream/stream-registry.ts";

/** Everything that the routes work with. */
export interface ServerScene {
  readonly options: ServerOptions;
  readonly limits: ServerLimits;
  readonly channel: EventChannel;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  readonly host: SessionHost;
  readonly feeds: SessionFeeds;
  readonly streams: StreamRegistry;
  readonly runs: OpenRuns;
  readonly files: SentFiles;
  readonly metrics: RequestMetrics;
  /** False while the server shuts down. */
  isReady(): boolean;
  /** How the store is. */
  readonly watched: Pick<WatchedStore, "isAway" | "flaw" | "damages" | "damaged">;
}
