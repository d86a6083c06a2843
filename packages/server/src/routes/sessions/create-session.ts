import { AgentError, type AgentSession, type FactOf, isAgentError, readOpening } from "@loopwright/core";
import type { SessionRef } from "@loopwright/core/ports";
import { accessOf } from "../../identity/access-of.ts";
import { jsonResponse } from "../../request/paced-response.ts";
import type { RequestContext, Route } from "../../request/route.ts";
import { type NewSessionRequest, newSessionRequest, sessionSnapshot } from "../../schemas/index.ts";
import type { ServerContext } from "../../server-context.ts";
import type { Principal } from "../../server-options.ts";
import { admitInput } from "../admit-input.ts";
import { keyedSessionId } from "../idempotency/keyed-session-id.ts";
import { idempotencyKeyOf } from "../idempotency/read-idempotency-key.ts";
import { plainOf, runUnderKey } from "../idempotency/replay-stored-answer.ts";
import { withSession } from "../open-session.ts";
import { withDerivedTitle } from "./with-derived-title.ts";

export const createSessionRoute: Route<unknown, unknown, NewSessionRequest> = {
  method: "POST",
  path: "/api/sessions",
  id: "createSession",
  summary: "Begins a session.",
  access: "principal",
  action: "session.create",
  isRefusedAtEnd: true,
  body: newSessionRequest,
  responses: {
    200: { description: "It was begun before under the same `Idempotency-Key`.", schema: sessionSnapshot },
    201: { description: "The session; `Location` leads to it.", schema: sessionSnapshot },
    403: { description: "The context holds what only trusted callers may bring." },
    404: { description: "No such agent." },
    409: { description: "A session of this id exists." },
    410: { description: "A session of this id was deleted." },
    422: { description: "The `Idempotency-Key` came with another session." },
  },
  async handle(context) {
    const { principal, server, body, request } = context;
    const { agent = server.options.agents[0]?.name ?? "", context: begins } = body;
    await admitInput(context, { agent, context: begins, messages: begins?.messages ?? [] });
    const { idempotencyKey } = idempotencyKeyOf(request);
    const id = body.id ?? (idempotencyKey === undefined ? undefined : await keyedSessionId(principal, idempotencyKey));
    const wanted: SessionRequest = { ...body, id, agent };
    return runUnderKey(context, { purpose: "session", content: plainOf(body), session: id }, async () => {
      try {
        return await begin(context, wanted);
      } catch (error) {
        const mayBeOurs = idempotencyKey !== undefined && id !== undefined && isAgentError(error, "SESSION_EXISTS");
        const begun = mayBeOurs ? await begunBefore(context, { ...wanted, id }) : undefined;
        if (begun) return begun;
        throw error;
      }
    });
  },
};

type CreateContext = RequestContext<unknown, unknown, NewSessionRequest>;
type SessionRequest = Omit<NewSessionRequest, "id"> & { readonly id: string | undefined; readonly agent: string };

async function begin({ principal, server }: CreateContext, { id, agent, title, metadata, context }: SessionRequest): Promise<Response> {
  const hosted = await server.host.create(accessOf(principal), { id, agent, title, metadata, ...context });
  try {
    const { session } = hosted;
    if (!(await isBegun(session))) throw new AgentError("SESSION_EXISTS", { message: `The session \`${session.id}\` exists already.` });
    await session.ready();
    return answerOf(session, 201, server);
  } finally {
    hosted.release();
  }
}

/** False if another node created the session first, also with another agent. */
async function isBegun(session: AgentSession): Promise<boolean> {
  try {
    return await session.open();
  } catch (error) {
    if (isAgentError(error, "SESSION_AGENT_MISMATCH")) return false;
    throw error;
  }
}

/** The session that exists already, if it fits the request: the first answer was lost, or the same request is being processed here or on another node. */
async function begunBefore(context: CreateContext, wanted: SessionRequest & { readonly id: string }): Promise<Response | undefined> {
  const { server, principal } = context;
  const ref = { scope: principal.scope, session: wanted.id };
  const opened = (await readOpening(server.options.store, ref)) ?? (await openingUnderWay(server, ref));
  if (!opened || !isSameRequest(opened, wanted, principal)) return undefined;
  return withSession(context, wanted.id, ({ session }) => answerOf(session, 200, server));
}

/** The opening that another request of this process is writing: its handle is loaded before the store has anything. */
async function openingUnderWay({ host, options }: ServerContext, ref: SessionRef): Promise<FactOf<"session.opened"> | undefined> {
  const hosted = await host
    .open(ref)
    .catch((error: unknown) => (isAgentError(error, "SESSION_NOT_FOUND") ? undefined : Promise.reject(error)));
  if (!hosted) return undefined;
  try {
    // Writes of one handle wait for each other, so this one ends after that of the other request.
    await isBegun(hosted.session);
  } finally {
    hosted.release();
  }
  return readOpening(options.store, ref);
}

function isSameRequest(
  opened: FactOf<"session.opened">,
  { agent, title, metadata, context }: SessionRequest,
  { user }: Principal,
): boolean {
  const { messages = [], tools = [], systemPrompt } = context ?? {};
  const asked = [agent, user, title, metadata, messages, tools, systemPrompt];
  const { context: seeded = [], tools: declared = [] } = opened;
  const begun = [opened.agent, opened.participants?.[0], opened.title, opened.metadata, seeded, declared, opened.prompt];
  return JSON.stringify(asked) === JSON.stringify(begun);
}

function answerOf(session: AgentSession, status: 200 | 201, { options, clock }: ServerContext): Response {
  return jsonResponse(withDerivedTitle(session.snapshot()), clock, {
    status,
    headers: { Location: `${options.basePath ?? ""}/api/sessions/${session.id}` },
  });
}
