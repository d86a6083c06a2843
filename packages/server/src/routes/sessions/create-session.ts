import { AgentError, type AgentSession, type FactOf, isAgentError, readOpening } from "@loopwright/core";
import type { SessionRef } from "@loopwright/core/ports";
import { accessOf } from "../../identity/access-of.ts";
import { admit, checkOpaque } from "../../identity/admit.ts";
import { jsonResponse } from "../../request/paced-response.ts";
import type { Call, Route } from "../../request/route.ts";
import { type NewSessionRequest, newSessionRequest, sessionSnapshot } from "../../schemas/index.ts";
import type { Principal } from "../../server-options.ts";
import type { ServerScene } from "../../server-scene.ts";
import { checkFiles } from "../files/check-files.ts";
import { idempotencyKeyOf } from "../idempotency-key.ts";
import { plainOf, underKey } from "../kept-key.ts";
import { keyedSessionId } from "../keyed-session-id.ts";
import { withSession } from "../open-session.ts";
import { titled } from "./titled.ts";

export const createSessionRoute: Route<unknown, unknown, NewSessionRequest> = {
  method: "POST",
  path: "/api/sessions",
  id: "createSession",
  summary: "Begins a session.",
  access: "principal",
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
  async handle(call) {
    const { principal, scene, body, request } = call;
    const { agent = scene.options.agents[0]?.name ?? "", context } = body;
    admit(principal, { agent, context }, scene);
    checkOpaque(context?.messages ?? [], principal);
    await checkFiles(context?.messages ?? [], scene.options.store, principal.scope);
    const { idempotencyKey } = idempotencyKeyOf(request);
    const id = body.id ?? (idempotencyKey === undefined ? undefined : await keyedSessionId(principal, idempotencyKey));
    const wish: Wish = { ...body, id, agent };
    return underKey(call, { purpose: "session", content: plainOf(body), session: id }, async () => {
      try {
        return await begin(call, wish);
      } catch (error) {
        const mayBeOurs = idempotencyKey !== undefined && id !== undefined && isAgentError(error, "SESSION_EXISTS");
        const begun = mayBeOurs ? await begunBefore(call, { ...wish, id }) : undefined;
        if (begun) return begun;
        throw error;
      }
    });
  },
};

type CreateCall = Call<unknown, unknown, NewSessionRequest>;
type Wish = Omit<NewSessionRequest, "id"> & { readonly id: string | undefined; readonly agent: string };

async function begin({ principal, scene }: CreateCall, { id, agent, title, metadata, context }: Wish): Promise<Response> {
  const hosted = await scene.host.create(accessOf(principal), { id, agent, title, metadata, ...context });
  try {
    const { session } = hosted;
    if (!(await isBegun(session))) throw new AgentError("SESSION_EXISTS", { message: `The session \`${session.id}\` exists already.` });
    await session.ready();
    return answerOf(session, 201, scene);
  } finally {
    hosted.release();
  }
}

/** False where another node was faster, also with another agent. */
async function isBegun(session: AgentSession): Promise<boolean> {
  try {
    return await session.open();
  } catch (error) {
    if (isAgentError(error, "SESSION_AGENT_MISMATCH")) return false;
    throw error;
  }
}

/** The session, where it began as the request wishes: its answer was lost, the same request is beginning it here, or another node is ahead. */
async function begunBefore(call: CreateCall, wish: Wish & { readonly id: string }): Promise<Response | undefined> {
  const { scene, principal } = call;
  const ref = { scope: principal.scope, session: wish.id };
  const opened = (await readOpening(scene.options.store, ref)) ?? (await openingUnderWay(scene, ref));
  if (!opened || !isAsWished(opened, wish, principal)) return undefined;
  return withSession(call, wish.id, ({ session }) => answerOf(session, 200, scene));
}

/** The opening that another request of this process is writing: its handle is loaded before the store has anything. */
async function openingUnderWay({ host, options }: ServerScene, ref: SessionRef): Promise<FactOf<"session.opened"> | undefined> {
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

function isAsWished(opened: FactOf<"session.opened">, { agent, title, metadata, context }: Wish, { user }: Principal): boolean {
  const { messages = [], tools = [], systemPrompt } = context ?? {};
  const wished = [agent, user, title, metadata, messages, tools, systemPrompt];
  const { context: seeded = [], tools: declared = [] } = opened;
  const begun = [opened.agent, opened.participants?.[0], opened.title, opened.metadata, seeded, declared, opened.prompt];
  return JSON.stringify(wished) === JSON.stringify(begun);
}

function answerOf(session: AgentSession, status: 200 | 201, { options, clock }: ServerScene): Response {
  return jsonResponse(titled(session.snapshot()), clock, {
    status,
    headers: { Location: `${options.basePath ?? ""}/api/sessions/${session.id}` },
  });
}
