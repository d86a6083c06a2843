import { jsonResponse } from "../../request/paced-response.ts";
import type { Route } from "../../request/route.ts";
import { scheduleList } from "../../schemas/index.ts";
import { withSession } from "../open-session.ts";
import { type SessionParams, sessionParams } from "../session-params.ts";

export const listSchedulesRoute: Route<SessionParams> = {
  method: "GET",
  path: "/api/sessions/:id/schedules",
  id: "listSchedules",
  summary: "The schedules of a session that will fire, the next one first, and the last 200 due times that have passed, the newest first.",
  access: "principal",
  action: "session.read",
  params: sessionParams,
  responses: { 200: { description: "The schedules and due times.", schema: scheduleList }, 404: { description: "No such session." } },
  handle: (call) =>
    withSession(call, call.params.id, ({ session: { schedules, firings } }) => jsonResponse({ schedules, firings }, call.server.clock)),
};
