import { type AcceptedSubmission, checkExecuteInput, type ExecuteInput } from "@loopwright/core/protocol";
import { accessOf } from "../../identity/access-of.ts";
import { admit, checkOpaque } from "../../identity/admit.ts";
import type { Route } from "../../request/route.ts";
import { acceptedSubmission, type MessageRequest, messageRequest } from "../../schemas/index.ts";
import { checkFiles, messagesOf } from "../files/check-files.ts";
import { idempotencyKeyOf } from "../idempotency-key.ts";
import { withSession } from "../open-session.ts";
import { type SessionParams, sessionParams } from "../session-params.ts";
import { isResults, resultsUnderKey } from "./results-under-key.ts";

export const submitMessageRoute: Route<SessionParams, unknown, MessageRequest> = {
  method: "POST",
  path: "/api/sessions/:id/messages",
  id: "submitMessage",
  summary: "Records an input and answers at once; the run that answers it goes on whether or not anybody watches.",
  access: "principal",
  isRefusedAtEnd: true,
  params: sessionParams,
  body: messageRequest,
  responses: {
    200: { description: "It was accepted before under the same `Idempotency-Key`.", schema: acceptedSubmission },
    202: { description: "It is durable.", schema: acceptedSubmission },
    400: { description: "The input cannot be used." },
    404: { description: "No such session, file or call." },
    409: { description: "The session is busy, and `mode` is `reject`." },
    410: { description: "The session is closed." },
    422: { description: "The `Idempotency-Key` came with another input or other options." },
    429: { description: "Too many runs of the caller are open." },
  },
  handle: (call) =>
    withSession(call, call.params.id, async ({ session, agent, ref }) => {
      const { body, principal, scene, request } = call;
      const { mode, parent, options = {} } = body;
      const input = checkExecuteInput(inputOf(body));
      admit(principal, { agent, options }, scene);
      checkOpaque(messagesOf(input), principal);
      await checkFiles(messagesOf(input), scene.options.store, ref.scope);
      const chosen = { ...options, ...(mode ? { mode } : {}), ...(parent === undefined ? {} : { parent }) };
      const how = { ...chosen, ...idempotencyKeyOf(request), access: accessOf(principal) };
      const results = isResults(input) ? input : undefined;
      const goesOn = results !== undefined;
      const submit = (): Promise<AcceptedSubmission> => scene.runs.admit({ principal, session, goesOn }, () => session.submit(input, how));
      const accepted = await (results ? resultsUnderKey(call, { sessionId: session.id, results, chosen }, submit) : submit());
      return Response.json({ sessionId: session.id, ...accepted }, { status: accepted.replayed ? 200 : 202 });
    }),
};

function inputOf({ input, message, regenerate }: MessageRequest): ExecuteInput | undefined {
  return input ?? message ?? (regenerate === undefined ? undefined : { regenerate });
}
