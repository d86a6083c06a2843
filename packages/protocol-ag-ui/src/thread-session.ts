/*
 * Owns: which session and which run a request is about. The id of a thread gives the id of its session, the page's id of a run is the idempotency key of
 * its input, and the ids of calls and interrupts are call keys: a page that sends a request again, to whichever node, gets the same run.
 */
import type { LoopwrightClient } from "@loopwright/client";
import { AgentError, isAgentError, type SessionSnapshot } from "@loopwright/core/protocol";
import { digestId } from "@loopwright/server";
import type { RunInput } from "./run-input.ts";
import { refuse } from "./run-refused.ts";

/** A thread of one user with one agent. */
export interface Thread {
  readonly user: string;
  readonly agent: string;
  readonly threadId: string;
}

const sessionOf = async ({ user, agent, threadId }: Thread): Promise<string> => `thread-${await digestId(user, agent, threadId)}`;

/** The session as it is; `undefined` for a thread that has none yet. @throws AgentError FORBIDDEN where another user has opened it */
export async function findThread(client: LoopwrightClient, thread: Thread): Promise<SessionSnapshot | undefined> {
  try {
    return ownSession(await client.sessions.get(await sessionOf(thread)), thread.user);
  } catch (error) {
    if (isAgentError(error, "SESSION_NOT_FOUND")) return undefined;
    throw error;
  }
}

/** The name of a thread is no secret, so another user may have opened a session with its id. @throws AgentError FORBIDDEN */
function ownSession(session: SessionSnapshot, user: string): SessionSnapshot {
  if (session.participants?.[0] === user) return session;
  throw new AgentError("FORBIDDEN", {
    message: "The session of this thread was opened by another user.",
    fix: "Use another id for the thread, or ask for the removal of that session.",
  });
}

/** A run that answers a request. */
export interface AnsweringRun {
  readonly session: string;
  readonly runId: string;
  /** The page has the run up to the calls of this turn. */
  readonly afterTurn?: number;
}

/** Records what a request has that is new. */
export async function recordInput(client: LoopwrightClient, thread: Thread, input: RunInput): Promise<AnsweringRun> {
  const found = await findThread(client, thread);
  if (input.resumed.length > 0 || input.results.length > 0) {
    const continued = found && (await answerRun(client, found, input));
    return continued ?? refuse("`messages`: no run of this thread has the call that is answered.");
  }
  const { message } = input;
  if (!message) return refuse("`messages`: there is no message of the role `user`, and no result of a call.");
  const { sessionId, run, waitsFor = [] } = found ?? (await beginThread(client, thread, input.tools));
  const { runId, replayed } = await client.sessions.submit(sessionId, message, { idempotencyKey: await digestId("run", input.runId) });
  const waits = waitsFor.some((reason) => reason === "client_tools" || reason === "approvals");
  // What waits for answers of the page gets none any more when the user writes on.
  if (run && waits && !replayed) await client.sessions.abort(sessionId, "the user went on", { runId: run.runId });
  return { session: sessionId, runId };
}

/** The tools of the page are those of its first run. Two requests that begin a thread at once make one session. */
async function beginThread(client: LoopwrightClient, thread: Thread, tools: RunInput["tools"]): Promise<SessionSnapshot> {
  const id = await sessionOf(thread);
  const context = tools.length === 0 ? {} : { context: { tools } };
  const session = { id, agent: thread.agent, metadata: { thread: thread.threadId }, ...context };
  return client.sessions.create(session, { idempotencyKey: `begin-${id}` });
}

/**
 * Sends the answers that the run waits for, and names that run; `undefined` where no call of this thread is answered. What the run does not wait for is known: results of the server's own
 * tools, and answers that came before.
 */
async function answerRun(
  client: LoopwrightClient,
  found: SessionSnapshot,
  { resumed, results }: RunInput,
): Promise<AnsweringRun | undefined> {
  const { sessionId: session, run } = found;
  const { pendingApprovals = [], pendingToolCalls = [] } = run ?? {};
  const isPending = (callKey: string): boolean => [...pendingApprovals, ...pendingToolCalls].some((call) => call.callKey === callKey);
  const ids = [...resumed.map(({ interruptId }) => interruptId), ...results.map(({ toolCallId }) => toolCallId)];
  const open = ids.some(isPending) && run ? { runId: run.runId, turn: run.turn } : undefined;
  const place = open ?? ids.map(placeOfCall).find((one) => one && found.messages.some(({ runId }) => runId === one.runId));
  if (!place) return undefined;
  for (const { interruptId, isAllowed, note } of resumed) {
    if (!pendingApprovals.some(({ callKey }) => callKey === interruptId)) continue;
    await client.sessions.decide(session, interruptId, { decision: isAllowed ? "allow" : "deny", ...(note === undefined ? {} : { note }) });
  }
  const sent = pendingToolCalls.flatMap(({ callKey, toolName }) => {
    const result = results.find(({ toolCallId }) => toolCallId === callKey);
    if (!result) return [];
    return [
      {
        role: "tool_result" as const,
        toolCallId: callKey,
        callKey,
        toolName,
        content: result.content,
        ...(result.isError ? { isError: true } : {}),
      },
    ];
  });
  if (sent.length > 0) await client.sessions.sendResults(session, sent);
  return { session, runId: place.runId, afterTurn: place.turn };
}

/** The run and the turn in a call key, `<run>.<turn>.<index>`. */
function placeOfCall(callKey: string): { readonly runId: string; readonly turn: number } | undefined {
  const [, runId = "", turn] = /^(.+)\.(\d+)\.\d+$/.exec(callKey) ?? [];
  return turn === undefined ? undefined : { runId, turn: Number(turn) };
}
