import { AgentError } from "@loopwright/core";
import type { Call } from "../http/route.ts";
import type { HostedSession } from "../sessions/session-host.ts";

const idPattern = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/**
 * A session of the caller's scope as the store has it, to be given back with `release`. @throws AgentError SESSION_NOT_FOUND, also for what can be
 * no id and for one whose first input is on its way; STORE_* where its state was lost and cannot be read
 */
export async function openSession({ scene, principal }: Call, id: string): Promise<HostedSession> {
  if (!idPattern.test(id)) throw notFound();
  const hosted = await scene.host.open({ scope: principal.scope, session: id });
  try {
    await hosted.session.ready();
    if (hosted.session.lastSeq === 0) throw notFound();
    return hosted;
  } catch (error) {
    hosted.release();
    throw error;
  }
}

const notFound = (): AgentError => new AgentError("SESSION_NOT_FOUND", { message: "There is no session of this id." });

/** Lends a session for as long as `use` takes. @throws AgentError SESSION_NOT_FOUND */
export async function withSession<T>(call: Call, id: string, use: (hosted: HostedSession) => T | Promise<T>): Promise<T> {
  const hosted = await openSession(call, id);
  try {
    return await use(hosted);
  } finally {
    hosted.release();
  }
}
