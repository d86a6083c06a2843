import { checkInput } from "@loopwright/core/protocol";
import { accessOf } from "../../identity/access-of-principal.ts";
import { withLabels } from "../../permissions/input-labels.ts";
import type { Route } from "../../request/route.ts";
import { type ScheduleRequest, scheduleRequest, sessionSchedule } from "../../schemas/index.ts";
import { admitInput } from "../admit-input.ts";
import { withSession } from "../open-session.ts";
import { type ScheduleParams, scheduleParams } from "./schedule-params.ts";

export const setScheduleRoute: Route<ScheduleParams, unknown, ScheduleRequest> = {
  method: "PUT",
  path: "/api/sessions/:id/schedules/:name",
  id: "setSchedule",
  summary: "Sets a schedule: the session gets the input at its due time, once over all nodes. Sent again, it changes nothing.",
  access: "principal",
  action: "session.schedule",
  isRefusedAtEnd: true,
  params: scheduleParams,
  body: scheduleRequest,
  responses: {
    200: { description: "It is durable.", schema: sessionSchedule },
    400: { description: "The schedule cannot be used: its time has passed, its zone is unknown, or the session has too many." },
    404: { description: "No such session or file." },
    410: { description: "The session is closed." },
  },
  handle: (context) =>
    withSession(context, context.params.id, async ({ session, agent }) => {
      const { options: chosen = {}, input, ...dates } = context.body;
      const options = withLabels(chosen, context);
      await admitInput(context, { agent, options, messages: checkInput(input, { isScanned: true }).messages });
      return Response.json(
        await session.schedule(context.params.name, { ...dates, ...options, input, access: accessOf(context.principal) }),
      );
    }),
};
