import { AgentError } from "@loopwright/core";
import type { Notification } from "@loopwright/core/ports";
import { routeTable } from "./http/route-table.ts";
import type { ServerOptions } from "./server-options.ts";
import { createNode, type RuntimeNode } from "./worker/create-node.ts";

/** Agents behind HTTP. */
export interface AgentServer extends RuntimeNode {
  /** Tells everybody of a scope who listens to `/api/notifications`, or the one user it is for. @throws AgentError INPUT_INVALID */
  notify(scope: string, notification: Notification): void;
  /** How many runs of a scope were found that a process had left behind: this one goes on with them. 0 where it runs none. @throws AgentError STORE_* */
  recover(scope: string): Promise<number>;
}

/** A server over a store. Any number of them may share it. @throws AgentError CONFIG_INVALID */
export function createServer(options: ServerOptions): AgentServer {
  const { node, scene, work } = createNode(options, { role: options.role ?? "all", routes: routeTable });
  return Object.assign(node, {
    notify: (scope: string, notification: Notification) => scene.channel.notify(scope, checkedNotification(notification)),
    recover: async (scope: string) => work?.recover(scope) ?? 0,
  });
}

function checkedNotification(notification: Notification): Notification {
  if (/^[a-z][a-z0-9_]{0,63}$/.test(notification.type)) return notification;
  throw new AgentError("INPUT_INVALID", {
    message: "The type of the notification is not usable.",
    fix: "Use a name like `job_progress`: small letters, digits and _, at most 64.",
  });
}
