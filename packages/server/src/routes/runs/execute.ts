import { AgentError, isAgentError, readOpening } from "@loopwright/core";
import type { SessionRef } from "@loopwright/core/ports";
import type { HostedSession } from "@loopwright/host";
import { accessOf } from "../../identity/access-of-principal.ts";
import { checkChosenId } from "../../identity/owned-session-id.ts";
import { authorize, noSession } from "../../permissions/authorize.ts";
import { checkAgentUse } from "../../permissions/check-agent-use.ts";
import { withLabels } from "../../permissions/input-labels.ts";
import { type CheckedExecuteRequest, checkedExecuteRequest } from "../../request/bodies-with-input.ts";
import { lastEventCursor } from "../../request/request-cursor.ts";
import type { RequestContext, Route } from "../../request/route.ts";
import { executeRequest } from "../../schemas/index.ts";
import type { Principal } from "../../server-options.ts";
import { admitInput } from "../admit-input.ts";
import { dialectOfVersion } from "../dialect-of-stream-version.ts";
import { withAttachments } from "../files/attach-files.ts";
import { keyedSessionId } from "../idempotency/keyed-session-id.ts";
import { idempotencyKeyOf } from "../idempotency/read-idempotency-key.ts";
import { plainOf, runUnderKey } from "../idempotency/replay-stored-answer.ts";
import { keyedResults } from "../idempotency/submit-results-under-key.ts";
import { streamExecution } from "./stream-execution.ts";

type ExecuteContext = RequestContext<unknown, unknown, CheckedExecuteRequest>;

/** The route that takes an input and streams the events of its run. */
export const executeRoute: Route<unknown, unknown, CheckedExecuteRequest> = {
  method: "POST",
  path: "/api/agent/execute",
  id: "execute",
  summary: "Sends an input to a new or an existing session and streams the run that answers it.",
  access: "principal",
  action: "session.send",
  isRefusedAtEnd: true,
  // A request with a context begins the session if there is none. Refused for a session that the caller may not read, it reveals that the id is taken.
  absent({ body: { sessionId, agent, context, streamVersion } }, request) {
    if (streamVersion === undefined && lastEventCursor(request)) return nothingToContinue(sessionId);
    return agent === undefined && context === undefined ? contextRequired() : undefined;
  },
  body: checkedExecuteRequest,
  bodySchema: executeRequest,
  responses: {
    200: { description: "The run's events; `execute_complete` is the last frame.", stream: true },
    400: {
      description: "The input cannot be used, a new session has no context, or an existing one has another agent or not these tools.",
    },
    404: { description: "No such session, agent, file or call." },
    409: { description: "The session is busy, or the call has another result." },
    410: { description: "The session is closed, or was deleted: its id is never used again." },
    422: {
      description:
        "The `Idempotency-Key` came with another input, another context or other options; where it began the session, also with another agent.",
    },
  },
  async handle(context) {
    const { body, request, principal, server } = context;
    const { mode, parent, ...options } = withLabels(body.options ?? {}, context);
    const input = await withAttachments(context, body.input, options.labels);
    const { results } = input;
    const key = idempotencyKeyOf(request);
    const dialect = dialectOfVersion(body.streamVersion, server);
    // A dialect has no cursors.
    const seen = dialect ? undefined : lastEventCursor(request);
    await admitInput(context, { messages: [...input.messages, ...(body.context?.messages ?? [])] });
    const chosen = { ...options, ...(mode ? { mode } : {}), ...(parent === undefined ? {} : { parent }) };
    // The fields for a new session belong to the content of the key too: the same key with another context means another request.
    const { agent, context: begins } = body;
    const begun = agent === undefined && begins === undefined ? {} : { keyedContent: plainOf({ agent, context: begins }) };
    const answer = async (hosted: HostedSession): Promise<Response> => {
      const { session } = hosted;
      const stream = (): Promise<Response> =>
        server.runs.admit({ principal, session, isContinued: results !== undefined }, () =>
          streamExecution(context, hosted, {
            input,
            options: { ...chosen, ...begun, ...key },
            seen,
            dialect,
            stopsWithStream: body.stopsWithStream,
          }),
        );
      try {
        // The log keeps the key of a message. It may have no fact for results, if equal results were recorded before.
        if (!results) return await stream();
        return await runUnderKey(context, keyedResults({ sessionId: session.id, results, chosen: { ...chosen, ...begun } }), stream);
      } catch (error) {
        hosted.release();
        throw error;
      }
    };
    const hosted = await sessionFor(context, { key: key.idempotencyKey, isContinued: seen !== undefined });
    try {
      return await answer(hosted);
    } catch (error) {
      // Another node has created the session meanwhile, with another agent, prompt or tools. Nothing was recorded here; the opening in the log is valid.
      if (!isAgentError(error, "SESSION_AGENT_MISMATCH")) throw error;
      return answer(await existing(context, hosted.ref));
    }
  },
};

interface Resumption {
  readonly key: string | undefined;
  /** True if the caller has seen events of the session, so that no new session may be created. */
  readonly isContinued: boolean;
}

/** Opens the session that the body names. Begins a session if the body names none, or one that does not exist; the same key gives the same new session. */
async function sessionFor(context: ExecuteContext, { key, isContinued }: Resumption): Promise<HostedSession> {
  const { principal, server, body } = context;
  const { agent, context: begins, options } = body;
  const id = body.sessionId ?? (key === undefined ? undefined : await keyedSessionId(principal, key));
  const mayBegin = begins !== undefined || agent !== undefined;
  if (body.sessionId === undefined && !mayBegin) throw contextRequired();
  const known = id === undefined ? undefined : await openKnown(context, id, mayBegin || isContinued);
  if (known && body.sessionId === undefined) checkOpener(known, principal);
  if (known) return withItsTools(context, await admitted(context, known));
  if (isContinued) throw nothingToContinue(id);
  const name = agent ?? server.options.agents[0]?.name ?? "";
  await checkAgentUse(principal, { agent: name, context: begins, options: withLabels(options ?? {}, context) }, server);
  if (body.sessionId !== undefined) {
    await checkChosenId(body.sessionId, principal);
    await authorize(principal, { action: "session.create", session: body.sessionId }, server);
  }
  try {
    return await server.host.create(accessOf(principal), { id, agent: name, ...begins });
  } catch (error) {
    // Another request has created the session meanwhile.
    if (id === undefined || !isAgentError(error, "SESSION_EXISTS")) throw error;
    return existing(context, { scope: principal.scope, session: id });
  }
}

/** A key is no secret: before its ids were kept for their users, another user could begin a session with the id of one. @throws AgentError FORBIDDEN */
function checkOpener(hosted: HostedSession, { user }: Principal): void {
  if (hosted.session.snapshot().participants?.[0] === user) return;
  hosted.release();
  throw new AgentError("FORBIDDEN", {
    message: "The session of this `Idempotency-Key` was opened by another user.",
    fix: "Use another key, or ask for the removal of that session.",
  });
}

/** Opens the session that another request has created, if it fits this request. */
async function existing(context: ExecuteContext, ref: SessionRef): Promise<HostedSession> {
  return withItsTools(context, await admitted(context, await context.server.host.open(ref)));
}

async function admitted({ principal, server, body }: ExecuteContext, hosted: HostedSession): Promise<HostedSession> {
  try {
    await checkAgentUse(principal, { agent: hosted.agent, options: withLabels(body.options ?? {}, { principal, server }) }, server);
    checkAgent(body, hosted.agent);
    return hosted;
  } catch (error) {
    hosted.release();
    throw error;
  }
}

/** Refuses another agent than that of the session. Without `sessionId`, the check of the idempotency key does so. @throws AgentError INPUT_INVALID */
function checkAgent({ sessionId, agent }: CheckedExecuteRequest, own: string): void {
  if (sessionId === undefined || agent === undefined || agent === own) return;
  throw new AgentError("INPUT_INVALID", {
    message: `The session \`${sessionId}\` has the agent \`${own}\`, not \`${agent}\`: a session keeps the agent that it began with.`,
    fix: `Leave \`agent\` out, name \`${own}\`, or begin a new session.`,
    details: { field: "agent" },
  });
}

/** Refuses tools that neither the session nor its agent has: they would never be called. @throws AgentError INPUT_INVALID */
async function withItsTools({ principal, server, body }: ExecuteContext, hosted: HostedSession): Promise<HostedSession> {
  const wanted = body.context?.tools ?? [];
  if (wanted.length === 0) return hosted;
  try {
    const { tools: own = [] } = (await readOpening(server.options.store, hosted.ref)) ?? {};
    const ofAgent = (await server.options.findAgent(hosted.agent, accessOf(principal)))?.tools ?? [];
    const names = new Set([...own, ...ofAgent].map(({ name }) => name));
    const other = wanted.find(({ name }) => !names.has(name));
    if (!other) return hosted;
    throw new AgentError("INPUT_INVALID", {
      message: `The session exists already and has no tool \`${other.name.slice(0, 64)}\`: tools come with a new session.`,
      fix: "Leave the tool out, or begin a new session with it.",
      details: { field: "context.tools" },
    });
  } catch (error) {
    hosted.release();
    throw error;
  }
}

async function openKnown({ principal, server }: ExecuteContext, session: string, mayBegin: boolean): Promise<HostedSession | undefined> {
  try {
    return await server.host.open({ scope: principal.scope, session });
  } catch (error) {
    if (!isAgentError(error, "SESSION_NOT_FOUND")) throw error;
    if (mayBegin) return undefined;
    throw contextRequired();
  }
}

const nothingToContinue = (id: string | undefined): AgentError =>
  new AgentError("SESSION_NOT_FOUND", { message: noSession(id), fix: "Begin a new session: this one may have been deleted." });

const contextRequired = (): AgentError =>
  new AgentError("INPUT_INVALID", {
    message: "Context required for new session",
    fix: "Send `context`, or name an `agent`, or the `sessionId` of a session that exists.",
  });
