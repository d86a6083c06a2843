/*
 * Owns: which session and which run a request is about. The id of a context gives the id of its session, and the id of a task is `<session>.<run>`: a client that
 * comes back, to whichever node, names what the log has.
 */
import type { LoopwrightClient } from "@loopwright/client";
import { isAgentError, isId, type SessionSnapshot } from "@loopwright/core/protocol";
import { digestId, findOwnedSession, ownedSessionId } from "@loopwright/server";
import { refuse } from "./json-rpc.ts";

const contextKind = "context";
/** What the ids of the sessions of contexts begin with. */
export const contextPrefix: string = `${contextKind}-`;

/** A run in its session, and the ids of its task. */
export interface TaskPlace {
  readonly session: string;
  readonly runId: string;
  readonly taskId: string;
  readonly contextId: string;
}

/** The agent that a request names; none: the server's first. */
export interface Caller {
  readonly user: string;
  readonly agent: string | undefined;
}

export const taskIdOf = (session: string, runId: string): string => `${session}.${runId}`;

export const contextIdOf = ({ metadata, sessionId }: Pick<SessionSnapshot, "metadata" | "sessionId">): string => {
  const { contextId } = metadata ?? {};
  return typeof contextId === "string" ? contextId : sessionId;
};

/** @throws RpcRefused where there can be no such task; AgentError SESSION_NOT_FOUND */
export async function placeOfTask(client: LoopwrightClient, taskId: string): Promise<TaskPlace> {
  const dot = taskId.indexOf(".");
  const [session, runId] = [taskId.slice(0, dot), taskId.slice(dot + 1)];
  if (dot < 0 || !isId(session) || runId === "") return refuse("TASK_NOT_FOUND", "There is no such task.");
  return { session, runId, taskId, contextId: contextIdOf(await client.sessions.get(session)) };
}

/** The ids that the session of a context of this user with this agent may have: that of now, and that of earlier versions. */
export async function sessionsOfContext({ user, agent = "" }: Caller, contextId: string): Promise<readonly [now: string, earlier: string]> {
  return [await ownedSessionId(contextKind, user, [agent, contextId]), `${contextPrefix}${await digestId(user, agent, contextId)}`];
}

/** The session of a context, which is begun if there is none yet. Two requests that begin one at once make one session. @throws RpcRefused */
export async function openContext(client: LoopwrightClient, caller: Caller, contextId: string): Promise<string> {
  const [id, earlierId] = await sessionsOfContext(caller, contextId);
  const { user, agent } = caller;
  const owned = { user, id, earlierId, label: "context" };
  const found = await findOwnedSession((one) => client.sessions.get(one), owned).catch(refuseForeign);
  if (found) return found.sessionId;
  const session = { id, ...(agent === undefined ? {} : { agent }), metadata: { contextId } };
  return (await client.sessions.create(session, { idempotencyKey: `begin-${id}` })).sessionId;
}

function refuseForeign(error: unknown): never {
  if (!isAgentError(error, "FORBIDDEN")) throw error;
  return refuse("INVALID_PARAMS", `\`message.contextId\`: ${error.message} ${error.fix}`);
}
