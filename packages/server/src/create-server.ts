import { createHost, type Host } from "@loopwright/host";
import type { AgentServer } from "./agent-server.ts";
import { checkedNotification } from "./check-notification.ts";
import { routeTable } from "./http/route-table.ts";
import { type ServedHost, serveHost } from "./serve-host.ts";
import type { HostedServerOptions, ServerOptions } from "./server-options.ts";

/**
 * Creates a server over a store, with a new host, or over a host of the application. Any number of servers may share a store or a host.
 * @throws AgentError CONFIG_INVALID
 */
export function createServer(options: ServerOptions | HostedServerOptions): AgentServer {
  if ("host" in options) return serverOf(options.host, serveHost(options.host, options, routeTable), false);
  const host = createHost(options);
  return serverOf(host, serveHost(host, options, routeTable), true);
}

/** `owns`: true if the host closes with the server. */
export function serverOf(host: Host, served: ServedHost, owns: boolean): AgentServer {
  const { context, fetch, hasAuthentication, basePath } = served;
  const drain = (): void => {
    served.drain();
    if (owns) host.drain();
  };
  const close = async (): Promise<void> => {
    if (owns) await host.close();
    served.close();
  };
  return {
    ...{ fetch, hasAuthentication, basePath, drain, close },
    get running() {
      return host.running;
    },
    ready: () => context.isReady(),
    async handOver(how) {
      served.drain();
      const count = owns ? await host.handOver(how) : 0;
      served.close();
      return count;
    },
    notify: (scope, notification) => context.channel.notify(scope, checkedNotification(notification, context.limits)),
    recover: (scope) => host.recover(scope),
  };
}
