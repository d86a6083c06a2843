import { AgentError } from "@loopwright/core";
import type { Notification } from "@loopwright/core/ports";
import { routeTable } from "./http/route-table.ts";
import type { ServerLimits } from "./server-limits.ts";
import type { ServerOptions } from "./server-options.ts";
import { createNode, type RuntimeNode } from "./worker/create-node.ts";

/** Agents behind HTTP. */
export interface AgentServer extends RuntimeNode {
  /**
   * Tells everybody of a scope who listens to `/api/notifications`, or the one user it is for. @throws AgentError INPUT_INVALID for a
   * type that is no name and for what is no JSON; PAYLOAD_TOO_LARGE over `limits.notificationBytes`, and nobody is told then
   */
  notify(scope: string, notification: Notification): void;
  /** How many runs of a scope were found that a process had left behind: this one goes on with them. 0 where it runs none. @throws AgentError STORE_* */
  recover(scope: string): Promise<number>;
}

/** A server over a store. Any number of them may share it. @throws AgentError CONFIG_INVALID */
export function createServer(options: ServerOptions): AgentServer {
  const { node, scene, work } = createNode(options, { role: options.role ?? "all", routes: routeTable });
  return Object.assign(node, {
    notify: (scope: string, notification: Notification) => scene.channel.notify(scope, checkedNotification(notification, scene.limits)),
    recover: async (scope: string) => work?.recover(scope) ?? 0,
  });
}

function checkedNotification(notification: Notification, { notificationBytes }: Pick<ServerLimits, "notificationBytes">): Notification {
  if (!/^[a-z][a-z0-9_]{0,63}$/.test(notification.type))
    throw new AgentError("INPUT_INVALID", {
      message: "The type of the notification is not usable.",
      fix: "Use a name like `job_progress`: small letters, digits and _, at most 64.",
    });
  const text = jsonOf(notification);
  // A character takes a byte at least: a text that is too long already is not encoded.
  if (text === undefined || text.length > notificationBytes || new TextEncoder().encode(text).byteLength > notificationBytes)
    throw new AgentError("PAYLOAD_TOO_LARGE", {
      message: `The notification \`${notification.type}\` has more than ${notificationBytes} bytes as JSON.`,
      fix: "Send what a client needs to ask for the rest, or raise `limits.notificationBytes`.",
    });
  return notification;
}

/** `undefined`: there is no text of such a length or depth. @throws AgentError INPUT_INVALID */
function jsonOf(notification: Notification): string | undefined {
  try {
    return JSON.stringify(notification);
  } catch (cause) {
    if (cause instanceof RangeError) return undefined;
    const message = `The data of the notification \`${notification.type}\` is no JSON.`;
    throw new AgentError("INPUT_INVALID", { message, fix: "Send plain data, without circles and without BigInts.", cause });
  }
}
