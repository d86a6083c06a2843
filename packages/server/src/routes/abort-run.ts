import { z } from "zod";
import type { Route } from "../http/route.ts";
import { type AbortRequest, abortRequest } from "../schemas/index.ts";
import { withSession } from "./open-session.ts";
import { type SessionParams, sessionParams } from "./session-params.ts";

export const abortRunRoute: Route<SessionParams, unknown, AbortRequest> = {
  method: "POST",
  path: "/api/sessions/:id/abort",
  id: "abortRun",
  summary: "Stops a run of a session: the open one, or the one that `runId` names. What the model has said so far is kept.",
  access: "principal",
  params: sessionParams,
  body: abortRequest,
  bodyOptional: true,
  responses: {
    202: { description: "Whether there was a run to stop.", schema: z.object({ aborting: z.boolean() }) },
    404: { description: "No such session." },
  },
  handle: (call) =>
    withSession(call, call.params.id, async ({ session }) => {
      const { reason = "stopped", runId } = call.body ?? {};
      const aborting = await session.abort(reason, { by: call.principal.user, ...(runId === undefined ? {} : { runId }) });
      return Response.json({ aborting }, { status: 202 });
    }),
};
