import { z } from "zod";
import type { Route } from "../request/route.ts";
import { type NotificationsQuery, notifyPrincipal } from "./follow-principal.ts";

const one = z.string().max(200);
const query: z.ZodType<NotificationsQuery> = z.object({
  session: z.union([one.transform((name) => [name]), z.array(one)]).optional(),
  dialect: one.optional(),
});

/** One stream with everything that concerns a principal. */
export const notificationsRoute: Route<unknown, NotificationsQuery> = {
  method: "GET",
  path: "/api/notifications",
  id: "notifications",
  summary:
    "Streams hints that a session of the caller's scope has changed, the events of the named sessions, and the notifications of the application.",
  access: "principal",
  action: "notifications.follow",
  query,
  responses: {
    200: { description: "Server-sent events.", stream: true },
    400: { description: "Too many sessions are named, a cursor cannot be read, or the server has no such dialect." },
    404: { description: "A named session does not exist." },
    503: { description: "Too many streams are open." },
  },
  handle: (call) => notifyPrincipal(call, call.query),
};
