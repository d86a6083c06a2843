/*
 * Owns: which session and which run a request is about. The id of a context gives the id of its session, and the id of a task is `<session>.<run>`: a client that
 * comes back, to whichever node, names what the log has.
 */
import type { LoopwrightClient } from "@loopwright/client";
import { isAgentError, isId, type SessionSnapshot } from "@loopwright/core/protocol";
import { digestId } from "@loopwright/server";
import { refuse } from "./json-rpc.ts";

/** What the ids of the sessions of contexts begin with. */
export const contextPrefix = "context-";

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

/** The session of a context of this user with this agent. */
export const sessionOfContext = async ({ user, agent }: Caller, contextId: string): Promise<string> =>
  `${contextPrefix}${await digestId(user, agent ?? "", contextId)}`;

/**
 * The session of a context, which is begun if there is none yet. Two requests that begin one at once make one session. The id of a context is no secret, so
 * another user may have opened a session with the id that follows from it. @throws RpcRefused
 */
export async function openContext(client: LoopwrightClient, caller: Caller, contextId: string): Promise<string> {
  const id = await sessionOfContext(caller, contextId);
  const { agent } = caller;
  try {
    const { sessionId, participants } = await client.sessions.get(id);
    if (participants?.[0] === caller.user) return sessionId;
    return refuse("INVALID_PARAMS", "`message.contextId`: the session of this context was opened by another user. Use another id.");
  } catch (error) {
    if (!isAgentError(error, "SESSION_NOT_FOUND")) throw error;
  }
  const session = { id, ...(agent === undefined ? {} : { agent }), metadata: { contextId } };
  return (await client.sessions.create(session, { idempotencyKey: `begin-${id}` })).sessionId;
}
