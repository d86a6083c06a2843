import type { Host } from "@loopwright/host";
import type { Listenable } from "./http/listenable.ts";
import { healthRoute, readyRoute } from "./routes/service/health.ts";
import { metricsRoute } from "./routes/service/metrics.ts";
import { serveHost } from "./serve-host.ts";
import type { HttpOptions } from "./server-options.ts";

export interface HealthServerOptions extends Pick<HttpOptions, "authenticate" | "insecure" | "hosts" | "limits"> {
  /** A worker, for example. */
  readonly host: Host;
}

/** A server that answers only `/healthz`, `/readyz` and `/metrics` of a host, and closes with the host. @throws AgentError CONFIG_INVALID */
export function createHealthServer({ host, ...http }: HealthServerOptions): Listenable {
  const served = serveHost(host, http, [healthRoute, readyRoute, metricsRoute]);
  host.onEnd(() => served.close());
  const { fetch, hasAuthentication, basePath } = served;
  return { fetch, hasAuthentication, basePath };
}
