import type { LoopwrightClient } from "@loopwright/client";
import { isAgentError, type ToolResultMessage } from "@loopwright/core/protocol";
import { digestId } from "@loopwright/server";
import type { Pending } from "./a2a-task.ts";
import { refuse } from "./json-rpc.ts";
import type { GivenDecision, GivenResult, MessageRequest } from "./message-request.ts";
import { type ReadTask, readTask, unreadTask } from "./read-task.ts";
import { type Caller, openContext, placeOfTask, taskIdOf } from "./task-place.ts";

/** Records what a message has that is new, and gives its task. The same message again gets the same task. */
export async function recordMessage(client: LoopwrightClient, caller: Caller, request: MessageRequest): Promise<ReadTask> {
  if (request.taskId !== undefined) return continueTask(client, request.taskId, request);
  const { messageId, message } = request;
  if (!message) return refuse("INVALID_PARAMS", "`message.parts`: there is nothing to answer.");
  const key = await digestId("message", messageId, JSON.stringify(message));
  const contextId = request.contextId ?? (await digestId(caller.user, caller.agent ?? "", key));
  const session = await openContext(client, caller, contextId);
  const { runId, seq } = await client.sessions.submit(session, message, { idempotencyKey: key });
  return unreadTask({ session, runId, contextId, taskId: taskIdOf(session, runId) }, seq);
}

/** Answers what a task asks, or adds to the input of its run. */
async function continueTask(client: LoopwrightClient, taskId: string, request: MessageRequest): Promise<ReadTask> {
  const place = await placeOfTask(client, taskId);
  if (request.contextId !== undefined && request.contextId !== place.contextId)
    return refuse("INVALID_PARAMS", "`message.contextId`: the task belongs to another context.");
  const read = await readTask(client, place);
  const { fold } = read;
  const { messageId, message } = request;
  const isAnswered = message === undefined || (typeof message.content === "string" && fold.hasResult(message.content));
  const key = await digestId("answer", taskId, messageId);
  const asked: Asked = { session: place.session, pending: fold.pending, key };
  // Asked after the task was read: a call that began to wait since then is not in `pending`.
  if (typeof message?.content === "string" && (await wasAnswer(client, asked))) return readTask(client, place);
  if (fold.state === "TASK_STATE_INPUT_REQUIRED") {
    if (await answer(client, asked, request)) return readTask(client, place);
    if (isAnswered) return read;
    return refuse("INVALID_PARAMS", howToAnswer);
  }
  // An answer that comes again has what followed it.
  if (isAnswered) return read;
  if (fold.isEnded) return refuse("UNSUPPORTED_OPERATION", "The task has ended. Send the message without `taskId`: it begins another one.");
  const idempotencyKey = await digestId("message", messageId, JSON.stringify(message));
  const { runId } = await client.sessions.submit(place.session, message, { idempotencyKey, mode: "steer" });
  return runId === place.runId ? read : readTask(client, { ...place, runId, taskId: taskIdOf(place.session, runId) });
}

const howToAnswer =
  "The task waits for an answer to its question. Send a data part `{ decisions: [{ callKey, decision }], results: [{ callKey, output }] }`, or, where it asks one thing, text: the result of the call, or `allow` or `deny`.";

interface Asked {
  readonly session: string;
  readonly pending: Pending;
  /** The key of the answer, if it is text: it answers one call, once. */
  readonly key: string;
}

/** True where a text answered before, as a decision or as a result. No call is named by the key: nothing is recorded here. */
async function wasAnswer(client: LoopwrightClient, { session, pending, key }: Asked): Promise<boolean> {
  const keyed = { idempotencyKey: key };
  if (await isKeyUsed(client.sessions.decide(session, key, { decision: "deny", ...keyed }))) return true;
  // The result of a call that waits is itself refused where the key was used. It must not meet the key with this content, which a crash would leave behind.
  if (pending.pendingToolCalls?.length) return false;
  return isKeyUsed(client.sessions.sendResults(session, [{ role: "tool_result", toolCallId: key, toolName: "", content: "" }], keyed));
}

/** False also where the request is refused for another reason: the caller may not decide, or the session is closed. */
async function isKeyUsed(request: Promise<unknown>): Promise<boolean> {
  try {
    await request;
    return false;
  } catch (error) {
    if (isAgentError(error) && !error.retryable) return error.code === "KEY_REUSED";
    throw error;
  }
}

/** False where nothing of the message answers what is asked. */
async function answer(client: LoopwrightClient, { session, pending, key }: Asked, request: MessageRequest): Promise<boolean> {
  const { pendingApprovals = [], pendingToolCalls = [] } = pending;
  const { decisions, results, isText } = withText(pending, request);
  const keyed = isText ? { idempotencyKey: key } : {};
  const settle = async (request: Promise<unknown>): Promise<void> => {
    try {
      await request;
    } catch (error) {
      // The same message answered another call.
      if (!isText || !isAgentError(error, "KEY_REUSED")) throw error;
    }
  };
  let isAnswered = false;
  for (const { callKey, argsDigest } of pendingApprovals) {
    const given = decisions.find((one) => one.callKey === callKey);
    if (!given) continue;
    const { isAllowed, note } = given;
    const about = { argsDigest: given.argsDigest ?? argsDigest, ...(note === undefined ? {} : { note }) };
    await settle(client.sessions.decide(session, callKey, { decision: isAllowed ? "allow" : "deny", ...about, ...keyed }));
    isAnswered = true;
  }
  const sent = pendingToolCalls.flatMap(({ callKey, toolName }): readonly ToolResultMessage[] => {
    const given = results.find((one) => one.callKey === callKey);
    if (!given) return [];
    const { output: content, isError } = given;
    return [{ role: "tool_result", toolCallId: callKey, callKey, toolName, content, ...(isError ? { isError } : {}) }];
  });
  if (sent.length > 0) await settle(client.sessions.sendResults(session, sent, keyed));
  return isAnswered || sent.length > 0;
}

/** The answers of a message. Text without data answers where one thing is asked. */
function withText(
  { pendingApprovals = [], pendingToolCalls = [] }: Pending,
  { message, decisions, results }: MessageRequest,
): { readonly decisions: readonly GivenDecision[]; readonly results: readonly GivenResult[]; readonly isText: boolean } {
  const text = typeof message?.content === "string" ? message.content : undefined;
  const given = { decisions, results, isText: false };
  if (text === undefined || decisions.length + results.length > 0 || pendingApprovals.length + pendingToolCalls.length !== 1) return given;
  const [approval, call] = [pendingApprovals[0], pendingToolCalls[0]];
  if (call) return { decisions, results: [{ callKey: call.callKey, output: text, isError: false }], isText: true };
  const word = text.trim().toLowerCase();
  if (!approval || (word !== "allow" && word !== "deny")) return given;
  const { callKey, argsDigest } = approval;
  return { decisions: [{ callKey, isAllowed: word === "allow", note: undefined, argsDigest }], results, isText: true };
}
