import type { AcceptedSubmission } from "@loopwright/core/protocol";
import { withLabels } from "../../permissions/input-labels.ts";
import { type CheckedMessageRequest, checkedMessageRequest } from "../../request/bodies-with-input.ts";
import type { Route } from "../../request/route.ts";
import { acceptedSubmission, messageRequest } from "../../schemas/index.ts";
import { admitInput } from "../admit-input.ts";
import { dialectOfVersion } from "../dialect-of-stream-version.ts";
import { withAttachments } from "../files/attach-files.ts";
import { resultsUnderKey } from "../idempotency/submit-results-under-key.ts";
import { withSession } from "../open-session.ts";
import { type SessionParams, sessionParams } from "../session-params.ts";
import { submitOptionsOf } from "../submit-options.ts";

export const submitMessageRoute: Route<SessionParams, unknown, CheckedMessageRequest> = {
  method: "POST",
  path: "/api/sessions/:id/messages",
  id: "submitMessage",
  summary: "Records an input and answers at once; the run that answers it does not depend on a subscriber.",
  access: "principal",
  action: "session.send",
  isRefusedAtEnd: true,
  params: sessionParams,
  body: checkedMessageRequest,
  bodySchema: messageRequest,
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
  handle: (context) =>
    withSession(context, context.params.id, async ({ session, agent }) => {
      const { body, principal, server } = context;
      const { mode, parent } = body;
      const options = withLabels(body.options ?? {}, context);
      const input = await withAttachments(context, body.input, options.labels);
      const { results, messages } = input;
      const dialect = dialectOfVersion(body.streamVersion, server);
      await admitInput(context, { agent, options, messages });
      const chosen = { ...options, ...(mode ? { mode } : {}), ...(parent === undefined ? {} : { parent }) };
      const how = { ...chosen, ...submitOptionsOf(context) };
      const submit = (): Promise<AcceptedSubmission> =>
        server.runs.admit({ principal, session, isContinued: results !== undefined }, () => session.submit(input, how));
      const accepted = await (results ? resultsUnderKey(context, { sessionId: session.id, results, chosen }, submit) : submit());
      return Response.json(
        { sessionId: session.id, ...accepted, ...(dialect ? { dialect: dialect.name } : {}) },
        { status: accepted.replayed ? 200 : 202 },
      );
    }),
};
