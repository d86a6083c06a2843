import type { Host } from "@loopwright/host";
import { checkOptions } from "./check-server-options.ts";
import { createCookieCheckCache } from "./cookie-check-cache.ts";
import { extendedRoutes } from "./http/add-extension-routes.ts";
import { createRequestHandler } from "./http/create-request-handler.ts";
import type { Listenable } from "./http/listenable.ts";
import { createOpenRuns } from "./meters/open-run-limit.ts";
import { createRateLimiter } from "./meters/rate-limiter.ts";
import { createRequestMetrics } from "./meters/request-metrics.ts";
import { createSentFiles } from "./meters/sent-bytes-limit.ts";
import { openApiOf } from "./request/openapi.ts";
import type { Route } from "./request/route.ts";
import type { ServerContext } from "./server-context.ts";
import { defaultHttpLimits } from "./server-limits.ts";
import type { HttpOptions } from "./server-options.ts";
import { createStreamRegistry } from "./stream/create-stream-registry.ts";
import { createSessionFeeds } from "./stream/session-feeds.ts";

/** Routes over a host. */
export interface ServedHost extends Listenable {
  readonly context: ServerContext;
  /** From now on refuses requests that begin work. */
  drain(): void;
  /** Ends all streams, and forgets the counts of requests. Idempotent. */
  close(): void;
}

/** Serves the sessions of a host over HTTP. The streams end when the host ends. @throws AgentError CONFIG_INVALID */
export function serveHost(host: Host, http: HttpOptions, routes: readonly Route[]): ServedHost {
  checkOptions(http);
  const { agents, findAgent, store, channel, clock, ids, logger, sessions, health } = host;
  const limits = { ...defaultHttpLimits, ...http.limits };
  const options = { ...http, agents, findAgent, store };
  const streams = createStreamRegistry(limits, { clock, ids });
  const rates = createRateLimiter(limits, clock);
  const all = extendedRoutes(routes, http.routes ?? []);
  let description: string | undefined;
  let isDrained = false;
  const context: ServerContext = {
    description: () => (description ??= JSON.stringify(openApiOf(all, http.basePath ?? ""))),
    ...{ options, limits, channel, clock, ids, logger, host: sessions, streams, rates, watched: health },
    verdicts: createCookieCheckCache(clock),
    feeds: createSessionFeeds(sessions, { store, limits, clock, logger }),
    runs: createOpenRuns(limits.runsPerPrincipal),
    files: createSentFiles(limits),
    metrics: createRequestMetrics(),
    isReady: () => !isDrained && host.ready(),
  };
  host.onEnd(() => streams.close());
  return {
    context,
    fetch: createRequestHandler(all, context),
    drain() {
      isDrained = true;
    },
    close() {
      isDrained = true;
      streams.close();
      rates.close();
    },
    hasAuthentication: http.authenticate !== undefined,
    basePath: http.basePath ?? "",
  };
}
