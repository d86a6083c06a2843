import { z } from "zod";
import type { Route } from "../../request/route.ts";
import { acceptedDecision, type DecisionRequest, decisionRequest } from "../../schemas/index.ts";
import { idempotencyKeyOf } from "../idempotency/read-idempotency-key.ts";
import { withSession } from "../open-session.ts";
import type { SessionParams } from "../session-params.ts";
import { decideAndRemember } from "./remember-decision.ts";

interface CallParams extends SessionParams {
  readonly callKey: string;
}

const callParams: z.ZodType<CallParams> = z.object({ id: z.string(), callKey: z.string() });

export const decideCallRoute: Route<CallParams, unknown, DecisionRequest> = {
  method: "POST",
  path: "/api/sessions/:id/approvals/:callKey",
  id: "decideCall",
  summary: "Allows or denies a call that waits for approval; the run continues when none of its calls waits any more.",
  access: "principal",
  action: "session.decide",
  params: callParams,
  body: decisionRequest,
  responses: {
    200: { description: "The same was decided before, by the caller or under the same `Idempotency-Key`.", schema: acceptedDecision },
    202: { description: "It is durable.", schema: acceptedDecision },
    400: {
      description: "The decision cannot be used; `args` that do not fit the tool, and a pattern that does not cover the call, among them.",
    },
    404: { description: "No such session, or no such call waits for approval." },
    409: {
      description: "It was decided before (`details` has the decision), the deadline has passed, or `argsDigest` is of other arguments.",
    },
    410: { description: "The session is closed." },
    422: { description: "The `Idempotency-Key` came with another decision." },
  },
  handle: (call) =>
    withSession(call, call.params.id, async ({ session }) => {
      const { principal, server, request, body, params } = call;
      const deciding = { session, callKey: params.callKey, principal, server };
      const accepted = await server.runs.admit({ principal, session, isContinued: true }, () =>
        decideAndRemember(deciding, { ...body, ...idempotencyKeyOf(request) }),
      );
      return Response.json({ sessionId: session.id, ...accepted }, { status: accepted.replayed ? 200 : 202 });
    }),
};
