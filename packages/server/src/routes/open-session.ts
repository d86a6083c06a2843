import { AgentError, type AgentSession, isAgentError } from "@loopwright/core";
import type { SessionRef } from "@loopwright/core/ports";
import type { HostedSession } from "@loopwright/host";
import type { Call } from "../request/route.ts";
import type { Principal } from "../server-options.ts";
import type { ServerScene } from "../server-scene.ts";

const idPattern = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/**
 * A session of the caller's scope as the store has it, to be given back with `release`. @throws AgentError SESSION_NOT_FOUND, also for what can be
 * no id and for one whose first input is on its way; STORE_* where its state was lost and cannot be read
 */
export async function openSession({ scene, principal }: Call, id: string): Promise<HostedSession> {
  const hosted = await scene.host.open(sessionRefOf(principal, id));
  try {
    await hosted.session.ready();
    if (hosted.session.lastSeq > 0) return hosted;
    const { lastSeq } = await scene.options.store.log.head(hosted.ref);
    throw lastSeq === 0 ? notFound() : stateLost();
  } catch (error) {
    hosted.release();
    throw ofHandle(error, hosted, scene);
  }
}

/** A session of the caller's scope. @throws AgentError SESSION_NOT_FOUND for what can be no id */
export function sessionRefOf({ scope }: Principal, session: string): SessionRef {
  if (!idPattern.test(session)) throw notFound();
  return { scope, session };
}

/** Lends a session for as long as `use` takes. @throws AgentError SESSION_NOT_FOUND, STORE_* */
export async function withSession<T>(call: Call, id: string, use: (hosted: HostedSession) => T | Promise<T>): Promise<T> {
  const hosted = await openSession(call, id);
  try {
    checkState(hosted.session);
    return await use(hosted);
  } catch (error) {
    throw ofHandle(error, hosted, call.scene);
  } finally {
    hosted.release();
  }
}

/** Before the state of an opened session is shown: the store may have failed since. @throws AgentError STORE_UNAVAILABLE */
export function checkState({ lastSeq }: AgentSession): void {
  if (lastSeq === 0) throw stateLost();
}

/** Where nobody stopped anything and the handle went from under the request, the next one gets another handle. */
function ofHandle(error: unknown, { isGone }: HostedSession, scene: ServerScene): unknown {
  if (!isGone || !isAgentError(error, "RUN_ABORTED")) return error;
  return scene.isReady() ? stateLost() : shuttingDown();
}

const shuttingDown = (): AgentError => new AgentError("NOT_READY", { message: "The server is shutting down.", retryAfterMs: 2_000 });

const notFound = (): AgentError => new AgentError("SESSION_NOT_FOUND", { message: "There is no session of this id." });

const stateLost = (): AgentError =>
  new AgentError("STORE_UNAVAILABLE", { message: "The store failed; the session is being read again.", retryAfterMs: 1_000 });
