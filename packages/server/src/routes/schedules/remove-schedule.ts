import type { Route } from "../../request/route.ts";
import { removedSchedule } from "../../schemas/index.ts";
import { withSession } from "../open-session.ts";
import { type ScheduleParams, scheduleParams } from "./schedule-params.ts";

export const removeScheduleRoute: Route<ScheduleParams> = {
  method: "DELETE",
  path: "/api/sessions/:id/schedules/:name",
  id: "removeSchedule",
  summary: "Removes a schedule of a session. An input that it has already sent is not stopped.",
  access: "principal",
  action: "session.schedule",
  params: scheduleParams,
  responses: {
    200: { description: "`removed` is false if there was none of this name.", schema: removedSchedule },
    404: { description: "No such session." },
    410: { description: "The session is closed." },
  },
  handle: (call) =>
    withSession(call, call.params.id, async ({ session }) =>
      Response.json({ removed: await session.unschedule(call.params.name, { by: call.principal.user }) }),
    ),
};
