import { AgentError } from "@loopwright/core";
import type { Notification } from "@loopwright/core/ports";
import { createHost, type Host } from "@loopwright/host";
import type { AgentServer } from "./agent-server.ts";
import { routeTable } from "./http/route-table.ts";
import { type ServedHost, serveHost } from "./serve-host.ts";
import type { HttpLimits } from "./server-limits.ts";
import type { HostedServerOptions, ServerOptions } from "./server-options.ts";

/**
 * A server over a store, with a host of its own, or over a host of the application. Any number of servers may share either.
 * @throws AgentError CONFIG_INVALID
 */
export function createServer(options: ServerOptions | HostedServerOptions): AgentServer {
  if ("host" in options) return serverOf(options.host, serveHost(options.host, options, routeTable), false);
  const host = createHost(options);
  return serverOf(host, serveHost(host, options, routeTable), true);
}

/** `owns`: the host closes with the server. */
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

function checkedNotification(notification: Notification, { notificationBytes }: Pick<HttpLimits, "notificationBytes">): Notification {
  if (!/^[a-z][a-z0-9_]{0,63}$/.test(notification.type))
    throw new AgentError("INPUT_INVALID", {
      message: "The type of the notification is not usable.",
      fix: "Use a name like `job_progress`: small letters, digits and _, at most 64.",
    });
  const text = jsonOf(notification);
  // A character takes at least one byte, so a text with too many characters need not be encoded.
  if (text === undefined || text.length > notificationBytes || new TextEncoder().encode(text).byteLength > notificationBytes)
    throw new AgentError("PAYLOAD_TOO_LARGE", {
      message: `The notification \`${notification.type}\` has more than ${notificationBytes} bytes as JSON.`,
      fix: "Send what a client needs to ask for the rest, or raise `limits.notificationBytes`.",
    });
  return notification;
}

/** `undefined`: the data is too long or too deep for a text. @throws AgentError INPUT_INVALID */
function jsonOf(notification: Notification): string | undefined {
  try {
    return JSON.stringify(notification);
  } catch (cause) {
    if (cause instanceof RangeError) return undefined;
    const message = `The data of the notification \`${notification.type}\` is no JSON.`;
    throw new AgentError("INPUT_INVALID", { message, fix: "Send plain data, without circles and without BigInts.", cause });
  }
}
