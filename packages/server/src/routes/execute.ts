import { AgentError, isAgentError } from "@loopwright/core";
import type { Call, Route } from "../http/route.ts";
import { admit } from "../identity/admit.ts";
import { type ExecuteRequest, executeRequest } from "../schemas/index.ts";
import type { HostedSession } from "../sessions/session-host.ts";
import { lastEventCursor } from "../stream/request-cursor.ts";
import { streamExecution } from "./execute-run.ts";

type ExecuteCall = Call<unknown, unknown, ExecuteRequest>;

/** Design D's one route: an input in, the events of its run out. */
export const executeRoute: Route<unknown, unknown, ExecuteRequest> = {
  method: "POST",
  path: "/api/agent/execute",
  id: "execute",
  summary: "Sends an input to a new or an existing session and streams the run that answers it.",
  access: "principal",
  body: executeRequest,
  responses: {
    200: { description: "The run's events; `execute_complete` is the last frame.", stream: true },
    400: { description: "The input cannot be used, or a new session has no context." },
    404: { description: "No such session, agent or call." },
    409: { description: "The session is busy, or the call has another result." },
  },
  async handle(call) {
    const { body, request } = call;
    const { mode, parent, ...options } = body.options ?? {};
    const key = request.headers.get("Idempotency-Key");
    const seen = lastEventCursor(request);
    const hosted = await sessionFor(call);
    const chosen = { ...options, ...(mode ? { mode } : {}), ...(parent === undefined ? {} : { parent }) };
    return streamExecution(call, hosted, { input: body.input, options: { ...chosen, ...(key ? { idempotencyKey: key } : {}) }, seen });
  },
};

/** The session that the body names; a new one where it names none, or one that is not there yet. */
async function sessionFor(call: ExecuteCall): Promise<HostedSession> {
  const { principal, scene, body } = call;
  const known = body.sessionId === undefined ? undefined : await openKnown(call, body.sessionId);
  if (known) {
    try {
      admit(principal, { agent: known.agent, options: body.options }, scene);
      return known;
    } catch (error) {
      known.release();
      throw error;
    }
  }
  const { sessionId, agent, context } = body;
  if (!context && agent === undefined)
    throw new AgentError("INPUT_INVALID", {
      message: "Context required for new session",
      fix: "Send `context`, or name an `agent`, or the `sessionId` of a session that exists.",
    });
  const name = agent ?? scene.options.agents[0]?.name ?? "";
  admit(principal, { agent: name, context, options: body.options }, scene);
  return scene.host.create(principal, { id: sessionId, agent: name, ...context });
}

async function openKnown({ principal, scene, body }: ExecuteCall, session: string): Promise<HostedSession | undefined> {
  try {
    return await scene.host.open({ scope: principal.scope, session });
  } catch (error) {
    const mayBegin = body.context !== undefined || body.agent !== undefined;
    if (mayBegin && isAgentError(error) && error.code === "SESSION_NOT_FOUND") return undefined;
    throw error;
  }
}
