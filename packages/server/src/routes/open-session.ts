import { AgentError, type AgentSession, isAgentError } from "@loopwright/core";
import { isId, type SessionRef } from "@loopwright/core/ports";
import type { HostedSession } from "@loopwright/host";
import { noSession } from "../permissions/authorize.ts";
import type { RequestContext } from "../request/route.ts";
import type { ServerContext } from "../server-context.ts";
import type { Principal } from "../server-options.ts";

/**
 * A session of the caller's scope, read from the store; give it back with `release`. @throws AgentError SESSION_NOT_FOUND, also for an invalid id
 * and for a session whose first input is still being recorded; STORE_* if the loaded state was dropped after a store failure; NOT_READY when the
 * server shuts down
 */
export async function openSession({ server, principal }: RequestContext, id: string): Promise<HostedSession> {
  const hosted = await server.host.open(sessionRefOf(principal, id));
  try {
    await hosted.session.ready();
    if (hosted.session.lastSeq > 0) return hosted;
    const { lastSeq } = await server.options.store.log.head(hosted.ref);
    throw lastSeq === 0 ? notFound(id) : stateLost();
  } catch (error) {
    hosted.release();
    throw errorAfterRelease(error, hosted, server);
  }
}

/** The reference of a session in the caller's scope. @throws AgentError SESSION_NOT_FOUND for an invalid id */
export function sessionRefOf({ scope }: Principal, session: string): SessionRef {
  if (!isId(session)) throw notFound(session);
  return { scope, session };
}

/** Lends a session for as long as `use` takes. @throws AgentError SESSION_NOT_FOUND, STORE_*, NOT_READY when the server shuts down */
export async function withSession<T>(context: RequestContext, id: string, use: (hosted: HostedSession) => T | Promise<T>): Promise<T> {
  const hosted = await openSession(context, id);
  try {
    checkState(hosted.session);
    return await use(hosted);
  } catch (error) {
    throw errorAfterRelease(error, hosted, context.server);
  } finally {
    hosted.release();
  }
}

/** Checks the state of an opened session before it is shown, because the store may have failed since. @throws AgentError STORE_UNAVAILABLE */
export function checkState({ lastSeq }: AgentSession): void {
  if (lastSeq === 0) throw stateLost();
}

/** Replaces RUN_ABORTED if the handle of the request was released meanwhile: no run was stopped, and the next request gets another handle. */
function errorAfterRelease(error: unknown, { isGone }: HostedSession, server: ServerContext): unknown {
  if (!isGone || !isAgentError(error, "RUN_ABORTED")) return error;
  return server.isReady() ? stateLost() : shuttingDown();
}

const shuttingDown = (): AgentError => new AgentError("NOT_READY", { message: "The server is shutting down.", retryAfterMs: 2_000 });

const notFound = (id: string): AgentError => new AgentError("SESSION_NOT_FOUND", { message: noSession(id) });

const stateLost = (): AgentError =>
  new AgentError("STORE_UNAVAILABLE", { message: "The store failed; the session is being read again.", retryAfterMs: 1_000 });
