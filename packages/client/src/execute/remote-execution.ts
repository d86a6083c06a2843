/*
 * Owns: one run on a server, watched from here until it ends or waits for somebody this side cannot stand in for. Does not own: how a connection
 * is made and made again (`watch`), how a tool runs (`client-tool`).
 * Invariants
 *  E1 the same POST under the same key, with the last cursor, is sent until the end frames came: nothing is recorded twice;
 *  E2 the reader gets each durable event once and in order, one `session_start`, one `session_end`, one `execute_complete`;
 *  E3 nothing waits for the reader; nobody asking for the result is no crash.
 */
import {
  type ExecuteInput,
  type ExecuteOptions,
  type ExecuteResult,
  type ExecuteStream,
  type Message,
  type PendingToolCall,
  type ToolResultMessage,
  textOf,
} from "@loopwright/core/protocol";
import { clientError, errorFromDocument, isKnownError } from "../client-error.ts";
import { type ClientScene, newId } from "../client-scene.ts";
import { createSessionRequests, type SessionContext } from "../session-requests.ts";
import type { ConnectionState } from "../stream/watch.ts";
import { type AnyTool, declaredTool, runClientTool } from "./client-tool.ts";
import { createEventBuffer } from "./event-buffer.ts";
import { createRunReader, type ExecuteComplete, type RunEnd } from "./run-reader.ts";

export interface ClientExecuteOptions extends ExecuteOptions {
  /** The session to go on with. Default: a new one. */
  readonly sessionId?: string;
  /** Of a new session. */
  readonly agent?: string;
  /** What a new session begins with. */
  readonly context?: SessionContext;
  /** Tools of this side. Those with `execute` run here when the model calls them, and the run goes on by itself. */
  readonly tools?: readonly AnyTool[];
  /** Default true; false leaves every call to the caller: the execution ends as `awaiting_tool_execution`. */
  readonly runTools?: boolean;
  /** Told how the connection stands. */
  readonly onState?: (state: ConnectionState) => void;
}

/** Begins an execution over HTTP. */
export function executeRemotely(scene: ClientScene, input: ExecuteInput, options: ClientExecuteOptions): ExecuteStream {
  const { sessionId = newId(scene), idempotencyKey: key = newId(scene), signal, onState } = options;
  const sessions = createSessionRequests(scene);
  const buffer = createEventBuffer();
  const messages: Message[] = [];
  const aborting = new AbortController();
  const accepted = Promise.withResolvers<void>();
  let isRead = false;
  let isOver = false;

  async function abort(reason = "user"): Promise<void> {
    await accepted.promise;
    if (isOver) return;
    await sessions.abort(sessionId, reason);
    aborting.abort();
  }

  async function run(): Promise<ExecuteResult> {
    const request = { path: "/api/agent/execute", json: bodyOf(sessionId, input, options) };
    const onEvent: Parameters<typeof createRunReader>[1]["onEvent"] = (event) => {
      if (event.type === "message_end") messages.push(event.message);
      buffer.push(event);
    };
    const read = createRunReader(scene, { request, key, onEvent, onAccepted: accepted.resolve, onState });
    const session = { id: sessionId, messages: () => messages };
    const answered = new Set<string>();
    for (;;) {
      const end = await read();
      const calls = (aborting.signal.aborted ? [] : callsFor(end.complete, options)).filter(({ callKey }) => !answered.has(callKey));
      if (calls.length === 0) return finish(end);
      for (const { callKey } of calls) answered.add(callKey);
      const results = await answersTo(
        calls,
        (call, tool) => runClientTool(scene, { tool, call, signal: aborting.signal, session }),
        options,
      );
      if (!aborting.signal.aborted) await sendEach(results);
    }
  }

  /** Where somebody else was faster, or it is too late, the run has gone on by itself. */
  async function sendEach(results: readonly ToolResultMessage[]): Promise<void> {
    for (const result of results)
      await sessions.sendResults(sessionId, [result]).catch((error: unknown) => {
        if (!isKnownError(error) || !/^CALL_/.test(error.code)) throw error;
      });
  }

  function finish(end: RunEnd): ExecuteResult {
    isOver = true;
    buffer.push({ type: "session_end", sessionId, messages: end.messages });
    buffer.push(end.complete);
    buffer.end();
    return resultOf(end);
  }

  buffer.push({ type: "session_start", sessionId });
  const outcome = run();
  // Whoever reads or asks for the result gets the error.
  outcome.catch((error: unknown) => {
    isOver = true;
    accepted.resolve();
    buffer.end(error);
  });
  if (signal) abortWith(signal, (reason) => void abort(reason).catch(() => {}), outcome);
  return {
    sessionId,
    result: () => outcome,
    abort,
    [Symbol.asyncIterator]() {
      if (isRead) throw clientError("INPUT_INVALID", { message: "This stream is being read already." });
      isRead = true;
      return buffer;
    },
  };
}

/** The calls that wait and have a tool here. */
function callsFor({ pendingToolCalls = [] }: ExecuteComplete, { runTools, tools = [] }: ClientExecuteOptions): readonly PendingToolCall[] {
  return runTools === false
    ? []
    : pendingToolCalls.filter(({ toolName }) => tools.some(({ name, execute }) => name === toolName && execute));
}

/** Side by side, unless one of the tools is to run alone. */
async function answersTo(
  calls: readonly PendingToolCall[],
  answer: (call: PendingToolCall, tool: AnyTool) => Promise<ToolResultMessage>,
  { tools = [] }: ClientExecuteOptions,
): Promise<readonly ToolResultMessage[]> {
  const named = calls.flatMap((call) => tools.filter(({ name }) => name === call.toolName).map((tool) => ({ call, tool })));
  if (!named.some(({ tool }) => tool.sequential)) return Promise.all(named.map(({ call, tool }) => answer(call, tool)));
  const results: ToolResultMessage[] = [];
  for (const { call, tool } of named) results.push(await answer(call, tool));
  return results;
}

function resultOf({ messages, complete }: RunEnd): ExecuteResult {
  const { type: _, error: said, ...rest } = complete;
  const last = messages.findLast((message) => message.role === "assistant");
  const isGood = rest.status === "completed" || rest.status === "awaiting_tool_execution";
  const error = isGood
    ? undefined
    : (errorFromDocument(said, { runId: rest.runId }) ?? clientError("INTERNAL", { message: "The run failed." }));
  return {
    ...rest,
    messages,
    text: last ? textOf(last) : "",
    ...(last ? { finishReason: last.stopReason } : {}),
    ...(error ? { error } : {}),
  };
}

function bodyOf(sessionId: string, input: ExecuteInput, options: ClientExecuteOptions): unknown {
  const { sessionId: _, idempotencyKey: __, signal: ___, onState: ____, runTools: _____, agent, context, tools, ...chosen } = options;
  const declared = tools?.map(declaredTool);
  return {
    sessionId,
    agent,
    input,
    context: declared ? { ...context, tools: [...(context?.tools ?? []), ...declared] } : context,
    options: chosen,
  };
}

function abortWith(signal: AbortSignal, abort: (reason: string) => void, outcome: Promise<unknown>): void {
  const onAbort = (): void => {
    const { reason } = signal;
    abort(isKnownError(reason) ? reason.code : typeof reason === "string" ? reason.slice(0, 200) : "signal");
  };
  const stop = (): void => signal.removeEventListener("abort", onAbort);
  signal.addEventListener("abort", onAbort);
  outcome.then(stop, stop);
  if (signal.aborted) onAbort();
}
