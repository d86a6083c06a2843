import type { AcceptedSubmission } from "@loopwright/core/protocol";
import { type CheckedResultsRequest, checkedResultsRequest } from "../../request/bodies-with-input.ts";
import type { Route } from "../../request/route.ts";
import { acceptedSubmission, toolResultsRequest } from "../../schemas/index.ts";
import { admitInput } from "../admit-input.ts";
import { resultsUnderKey } from "../idempotency/submit-results-under-key.ts";
import { withSession } from "../open-session.ts";
import { type SessionParams, sessionParams } from "../session-params.ts";
import { submitOptionsOf } from "../submit-options.ts";

export const sendResultsRoute: Route<SessionParams, unknown, CheckedResultsRequest> = {
  method: "POST",
  path: "/api/sessions/:id/tool-results",
  id: "sendResults",
  summary: "Answers pending calls of client tools; the run continues when all are answered.",
  access: "principal",
  action: "session.answer",
  params: sessionParams,
  body: checkedResultsRequest,
  bodySchema: toolResultsRequest,
  responses: {
    200: { description: "The calls have these very results already.", schema: acceptedSubmission },
    202: { description: "They are durable.", schema: acceptedSubmission },
    400: { description: "A result cannot be used." },
    404: { description: "No such session, or no such call is pending." },
    409: { description: "A call has another result already." },
    410: { description: "The session is closed." },
    422: { description: "The `Idempotency-Key` came with other results." },
  },
  handle: (context) =>
    withSession(context, context.params.id, async ({ session }) => {
      const { principal, server, body } = context;
      const { input } = body;
      const { results = [], messages } = input;
      await admitInput(context, { messages });
      const options = submitOptionsOf(context);
      const submit = (): Promise<AcceptedSubmission> =>
        server.runs.admit({ principal, session, isContinued: true }, () => session.submit(input, options));
      const accepted = await resultsUnderKey(context, { sessionId: session.id, results, chosen: {} }, submit);
      return Response.json({ sessionId: session.id, ...accepted }, { status: accepted.replayed ? 200 : 202 });
    }),
};
