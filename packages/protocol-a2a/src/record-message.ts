import type { LoopwrightClient } from "@loopwright/client";
import type { ToolResultMessage } from "@loopwright/core/protocol";
import type { Pending } from "./a2a-task.ts";
import { digestId } from "./digest-id.ts";
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
  if (fold.state === "TASK_STATE_INPUT_REQUIRED") {
    if (await answer(client, { session: place.session, pending: fold.pending }, request)) return readTask(client, place);
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
}

/** False where nothing of the message answers what is asked. */
async function answer(client: LoopwrightClient, { session, pending }: Asked, request: MessageRequest): Promise<boolean> {
  const { pendingApprovals = [], pendingToolCalls = [] } = pending;
  const { decisions, results } = withText(pending, request);
  let isAnswered = false;
  for (const { callKey } of pendingApprovals) {
    const given = decisions.find((one) => one.callKey === callKey);
    if (!given) continue;
    const { isAllowed, note } = given;
    await client.sessions.decide(session, callKey, { decision: isAllowed ? "allow" : "deny", ...(note === undefined ? {} : { note }) });
    isAnswered = true;
  }
  const sent = pendingToolCalls.flatMap(({ callKey, toolName }): readonly ToolResultMessage[] => {
    const given = results.find((one) => one.callKey === callKey);
    if (!given) return [];
    const { output: content, isError } = given;
    return [{ role: "tool_result", toolCallId: callKey, callKey, toolName, content, ...(isError ? { isError } : {}) }];
  });
  if (sent.length > 0) await client.sessions.sendResults(session, sent);
  return isAnswered || sent.length > 0;
}

/** The answers of a message. Text answers where one thing is asked. */
function withText(
  { pendingApprovals = [], pendingToolCalls = [] }: Pending,
  { message, decisions, results }: MessageRequest,
): { readonly decisions: readonly GivenDecision[]; readonly results: readonly GivenResult[] } {
  const text = typeof message?.content === "string" ? message.content : undefined;
  if (text === undefined || pendingApprovals.length + pendingToolCalls.length !== 1) return { decisions, results };
  const [approval, call] = [pendingApprovals[0], pendingToolCalls[0]];
  if (call) return { decisions, results: [...results, { callKey: call.callKey, output: text, isError: false }] };
  const word = text.trim().toLowerCase();
  if (!approval || (word !== "allow" && word !== "deny")) return { decisions, results };
  return { decisions: [...decisions, { callKey: approval.callKey, isAllowed: word === "allow", note: undefined }], results };
}
