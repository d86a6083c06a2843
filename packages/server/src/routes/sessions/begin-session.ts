import { AgentError, type AgentSession, type FactOf, isAgentError, readOpening } from "@loopwright/core";
import type { SessionRef } from "@loopwright/core/ports";
import { decodeCursor } from "@loopwright/core/protocol";
import type { NewSession } from "@loopwright/host";
import { accessOf } from "../../identity/access-of-principal.ts";
import { jsonResponse } from "../../request/paced-response.ts";
import type { RequestContext } from "../../request/route.ts";
import type { ServerContext } from "../../server-context.ts";
import type { Principal } from "../../server-options.ts";
import { withSession } from "../open-session.ts";
import { withDerivedTitle } from "./with-derived-title.ts";

/** A session that a caller wants, after the checks of its route. */
type WantedSession = NewSession & { readonly agent: string };

/**
 * Begins a session and answers with it. If the request has an `Idempotency-Key` and began the session before, answers with the session of that time.
 * @throws AgentError SESSION_EXISTS, AGENT_NOT_FOUND, STORE_*
 */
export async function beginSession(context: RequestContext, wanted: WantedSession, isKeyed: boolean): Promise<Response> {
  try {
    return await begin(context, wanted);
  } catch (error) {
    const { id } = wanted;
    const mayBeOurs = isKeyed && id !== undefined && isAgentError(error, "SESSION_EXISTS");
    const begun = mayBeOurs ? await begunBefore(context, { ...wanted, id }) : undefined;
    if (begun) return begun;
    throw error;
  }
}

async function begin({ principal, server }: RequestContext, wanted: WantedSession): Promise<Response> {
  const hosted = await server.host.create(accessOf(principal), wanted);
  try {
    const { session } = hosted;
    if (!(await isBegun(session))) throw new AgentError("SESSION_EXISTS", { message: `The session \`${session.id}\` exists already.` });
    await session.ready();
    announce({ scope: principal.scope, session: session.id }, session, server);
    return answerOf(session, 201, server);
  } finally {
    hosted.release();
  }
}

/**
 * Publishes a `session_changed` for readers of the scope, because the fact `session.opened` has no event. The event has the position of the snapshot's
 * cursor, so a reader of the session takes it for known.
 */
function announce(ref: SessionRef, session: AgentSession, { channel }: ServerContext): void {
  const { cursor, title, createdAt } = session.snapshot();
  const place = decodeCursor(cursor) ?? { seq: 1, k: 0 };
  channel.publish(ref, [
    { type: "session_changed", ...(title === undefined ? {} : { title }), ...place, at: createdAt, sessionId: ref.session },
  ]);
}

/** Records the opening. False if another node created the session first, with the same agent or another. */
async function isBegun(session: AgentSession): Promise<boolean> {
  try {
    return await session.open();
  } catch (error) {
    if (isAgentError(error, "SESSION_AGENT_MISMATCH")) return false;
    throw error;
  }
}

/** The session that exists already, if it fits the request: the first answer was lost, or the same request is being processed here or on another node. */
async function begunBefore(context: RequestContext, wanted: WantedSession & { readonly id: string }): Promise<Response | undefined> {
  const { server, principal } = context;
  const ref = { scope: principal.scope, session: wanted.id };
  const opened = (await readOpening(server.options.store, ref)) ?? (await openingUnderWay(server, ref));
  if (!opened || !isSameRequest(opened, wanted, principal)) return undefined;
  return withSession(context, wanted.id, ({ session }) => answerOf(session, 200, server));
}

/** The opening that another request of this process is writing: the handle of that request is loaded before the store has anything. */
async function openingUnderWay({ host, options }: ServerContext, ref: SessionRef): Promise<FactOf<"session.opened"> | undefined> {
  const hosted = await host
    .open(ref)
    .catch((error: unknown) => (isAgentError(error, "SESSION_NOT_FOUND") ? undefined : Promise.reject(error)));
  if (!hosted) return undefined;
  try {
    // Writes of one handle wait for each other, so this write ends after the write of the other request.
    await isBegun(hosted.session);
  } finally {
    hosted.release();
  }
  return readOpening(options.store, ref);
}

function isSameRequest(
  opened: FactOf<"session.opened">,
  { agent, title, metadata, messages = [], tools = [], systemPrompt }: WantedSession,
  { user }: Principal,
): boolean {
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
