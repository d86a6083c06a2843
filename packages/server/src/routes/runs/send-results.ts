import type { AcceptedSubmission, ToolResultMessage } from "@loopwright/core";
import { checkExecuteInput } from "@loopwright/core/protocol";
import { accessOf } from "../../identity/access-of.ts";
import { checkOpaque } from "../../identity/admit.ts";
import type { Route } from "../../request/route.ts";
import { acceptedSubmission, type ToolResultsRequest, toolResultsRequest } from "../../schemas/index.ts";
import { checkFiles } from "../files/check-files.ts";
import { idempotencyKeyOf } from "../idempotency-key.ts";
import { withSession } from "../open-session.ts";
import { type SessionParams, sessionParams } from "../session-params.ts";
import { resultsUnderKey } from "./results-under-key.ts";

export const sendResultsRoute: Route<SessionParams, unknown, ToolResultsRequest> = {
  method: "POST",
  path: "/api/sessions/:id/tool-results",
  id: "sendResults",
  summary: "Answers pending calls of client tools; the run goes on when all are answered.",
  access: "principal",
  params: sessionParams,
  body: toolResultsRequest,
  responses: {
    200: { description: "The calls have these very results already.", schema: acceptedSubmission },
    202: { description: "They are durable.", schema: acceptedSubmission },
    400: { description: "A result cannot be used." },
    404: { description: "No such session, or no such call is pending." },
    409: { description: "A call has another result already." },
    410: { description: "The session is closed." },
    422: { description: "The `Idempotency-Key` came with other results." },
  },
  handle: (call) =>
    withSession(call, call.params.id, async ({ session, ref }) => {
      const { principal, scene, body } = call;
      const results = checkExecuteInput(body.results) as readonly ToolResultMessage[];
      checkOpaque(results, principal);
      await checkFiles(results, scene.options.store, ref.scope);
      const options = { access: accessOf(principal), ...idempotencyKeyOf(call.request) };
      const submit = (): Promise<AcceptedSubmission> =>
        scene.runs.admit({ principal, session, goesOn: true }, () => session.submit(results, options));
      const accepted = await resultsUnderKey(call, { sessionId: session.id, results, chosen: {} }, submit);
      return Response.json({ sessionId: session.id, ...accepted }, { status: accepted.replayed ? 200 : 202 });
    }),
};
