/*
 * Owns: which session and which run a request is about. The id of a thread gives the id of its session, the page's id of a run is the idempotency key of
 * its input, and the ids of calls and interrupts are call keys: a page that sends a request again, to whichever node, gets the same run.
 */
import type { LoopwrightClient } from "@loopwright/client";
import { type AcceptedSubmission, isAgentError, type SessionSnapshot, type UserMessage } from "@loopwright/core/protocol";
import { digestId, findOwnedSession, ownedSessionId } from "@loopwright/server";
import { idBelow } from "./ag-ui-messages.ts";
import { isNewState, withoutPageState, withPageState } from "./page-state.ts";
import type { RunInput } from "./run-input.ts";
import { refuse } from "./run-refused.ts";

/** A thread of one user with one agent. */
export interface Thread {
  readonly user: string;
  readonly agent: string;
  readonly threadId: string;
}

const sessionOf = ({ user, agent, threadId }: Thread): Promise<string> => ownedSessionId("thread", user, [agent, threadId]);

/** The session as it is; `undefined` for a thread that has none yet. @throws AgentError FORBIDDEN where another user has opened it */
export async function findThread(client: LoopwrightClient, thread: Thread): Promise<SessionSnapshot | undefined> {
  const { user, agent, threadId } = thread;
  const earlierId = `thread-${await digestId(user, agent, threadId)}`;
  return findOwnedSession((id) => client.sessions.get(id), { user, id: await sessionOf(thread), earlierId, label: "thread" });
}

/** A run that answers a request. */
export interface AnsweringRun {
  readonly session: string;
  readonly runId: string;
  /** The page has the run up to the calls of this turn. */
  readonly afterTurn?: number;
}

/** Records what a request has that is new; the state of the page where it is given to the agent (`hasState`). */
export async function recordInput(client: LoopwrightClient, thread: Thread, { hasState, ...input }: Recorded): Promise<AnsweringRun> {
  const found = await findThread(client, thread);
  if (input.resumed.length > 0 || input.results.length > 0) {
    const continued = found && (await answerRun(client, found, input));
    return continued ?? refuse("`messages`: no run of this thread has the call that is answered.");
  }
  const { message } = input;
  if (!message) return refuse("`messages`: there is no message of the role `user`, and no result of a call.");
  const session = found ?? (await beginThread(client, thread, input.tools));
  const { sessionId, run, waitsFor = [] } = session;
  const asked = hasState && isNewState(found, input.state) ? withPageState(message, input.state) : message;
  const { runId, replayed } = await submit(client, session, { message: asked, key: await digestId("run", input.runId) });
  const waits = waitsFor.some((reason) => reason === "client_tools" || reason === "approvals");
  // What waits for answers of the page gets none any more when the user writes on.
  if (run && waits && !replayed) await client.sessions.abort(sessionId, "the user went on", { runId: run.runId });
  return { session: sessionId, runId };
}

interface Recorded extends RunInput {
  readonly hasState: boolean;
}

/** A page that sends a run again may have another state by now: then the message that the log has under its key is sent again. */
async function submit(
  client: LoopwrightClient,
  { sessionId, messages }: SessionSnapshot,
  { message, key: idempotencyKey }: { readonly message: UserMessage; readonly key: string },
): Promise<AcceptedSubmission> {
  try {
    return await client.sessions.submit(sessionId, message, { idempotencyKey });
  } catch (error) {
    const written = JSON.stringify(withoutPageState(message));
    const sent = messages.findLast(({ message: one }) => one.role === "user" && JSON.stringify(withoutPageState(one)) === written)?.message;
    if (!isAgentError(error, "KEY_REUSED") || sent?.role !== "user") throw error;
    return client.sessions.submit(sessionId, sent, { idempotencyKey });
  }
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
  { resumed, results, messages }: RunInput,
): Promise<AnsweringRun | undefined> {
  const { sessionId: session, run } = found;
  const { pendingApprovals = [], pendingToolCalls = [] } = run ?? {};
  const isPending = (id: string): boolean => [...pendingApprovals, ...pendingToolCalls].some((call) => idOfCall(call) === id);
  const ids = [...resumed.map(({ interruptId }) => interruptId), ...results.map(({ toolCallId }) => toolCallId)];
  const open = ids.some(isPending) && run ? { runId: run.runId, turn: run.turn } : undefined;
  const isHere = (one: Place | undefined): one is Place => one !== undefined && found.messages.some(({ runId }) => runId === one.runId);
  // The call of an agent below the run has ended, and does not name the run: the last answer of the run does.
  const place = open ?? [...ids.map(placeOfCall), placeOfAnswer(messages)].find(isHere);
  if (!place) return undefined;
  for (const { interruptId, isAllowed, note } of resumed) {
    const asked = pendingApprovals.find((call) => idOfCall(call) === interruptId);
    if (!asked) continue;
    await client.sessions.decide(session, asked.callKey, {
      decision: isAllowed ? "allow" : "deny",
      ...(note === undefined ? {} : { note }),
    });
  }
  const sent = pendingToolCalls.flatMap((call) => {
    const { callKey, toolName } = call;
    const result = results.find(({ toolCallId }) => toolCallId === idOfCall(call));
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

const idOfCall = ({ callKey, session }: { readonly callKey: string; readonly session?: string }): string => idBelow(callKey, session);

interface Place {
  readonly runId: string;
  readonly turn: number;
}

/** The run and the turn in a call key, `<run>.<turn>.<index>`. */
function placeOfCall(callKey: string): Place | undefined {
  const [, runId = "", turn] = /^(.+)\.(\d+)\.\d+$/.exec(callKey) ?? [];
  return turn === undefined ? undefined : { runId, turn: Number(turn) };
}

/** The run and the turn of the last answer that the page has of the agent of the thread. */
function placeOfAnswer(messages: RunInput["messages"]): Place | undefined {
  const answer = messages.findLast(({ role, subagentRunId }) => role === "assistant" && subagentRunId === undefined);
  const [, runId = "", turn] = /^(.+)\.(\d+)$/.exec(answer?.id ?? "") ?? [];
  return turn === undefined ? undefined : { runId, turn: Number(turn) };
}
