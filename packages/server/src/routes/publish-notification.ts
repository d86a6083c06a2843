import { AgentError } from "@loopwright/core";
import type { Json, Notification } from "@loopwright/core/protocol";
import { z } from "zod";
import { checkedNotification } from "../check-notification.ts";
import type { Route } from "../request/route.ts";

const body: z.ZodType<Notification> = z.object({
  type: z.string().max(64),
  to: z.string().min(1).max(200).exactOptional(),
  data: z
    .json()
    .transform((data): Json => data as Json)
    .exactOptional(),
});
const bodySchema = z.object({ type: z.string(), to: z.string().exactOptional(), data: z.json().exactOptional() });

/** A notification of the product for the users of its scope, from one of its services. */
export const publishNotificationRoute: Route<unknown, unknown, Notification> = {
  method: "POST",
  path: "/api/notifications",
  id: "publishNotification",
  summary:
    "Sends a notification of the product (progress of a job, a request to refresh, a system message) to the users of the caller's scope, or to one.",
  access: "principal",
  action: "notifications.publish",
  body,
  bodySchema,
  responses: {
    202: { description: "It is on its way to the streams that are open now, on every node." },
    400: { description: "The type is not usable." },
    403: { description: "Only trusted principals, such as services of the product, may send notifications." },
    413: { description: "It is too large." },
  },
  handle({ principal, body: notification, server }) {
    if (principal.trusted !== true)
      throw new AgentError("FORBIDDEN", {
        message: "Notifications may come from trusted callers only.",
        fix: "Send them from a service of the product whose principal is `trusted`.",
      });
    server.channel.notify(principal.scope, checkedNotification(notification, server.limits));
    return new Response(null, { status: 202 });
  },
};
