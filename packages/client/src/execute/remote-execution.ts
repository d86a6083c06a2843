/*
 * Owns: one run on a server, followed from here until it ends, or waits for an answer or a decision that this client cannot give. Does not own:
 * connections and reconnects (`watch`), how a tool runs (`client-tool`).
 * Invariants
 *  E1 the same POST under the same key, with the last cursor, is sent until the end frames came: nothing is recorded twice;
 *  E2 the reader gets each durable event once and in order, one `session_start`, one `session_end`, one `execute_complete`;
 *  E3 nothing waits for the reader; a result that is never asked for causes no unhandled rejection.
 */
import {
  type AgentEvent,
  addSpent,
  type ExecuteInput,
  type ExecuteOptions,
  type ExecuteStream,
  type Message,
  type Tool,
} from "@loopwright/core/protocol";
import { type ClientContext, newId } from "../client-context.ts";
import { isKnownError } from "../client-error.ts";
import { createSessionRequests, type InputFields, type SessionContext } from "../session-requests.ts";
import { executionStream, type RunEnd } from "../stream/execution-stream.ts";
import type { ConnectionState } from "../stream/watch.ts";
import { createCallAnswers } from "./answer-calls.ts";
import { declaredTool } from "./client-tool.ts";
import { createRunReader } from "./run-reader.ts";

export interface ClientExecuteOptions extends ExecuteOptions, InputFields {
  /** The session to continue. Default: a new one. */
  readonly sessionId?: string;
  /** Of a new session. Default: the server's first. */
  readonly agent?: string;
  /** What a new session begins with. */
  readonly context?: SessionContext;
  /**
   * Tools of this client. Those with `execute` run here when the model calls them, and the run continues with their output. An existing session
   * accepts only the tools that it was created with and those of its agent; others are refused with INPUT_INVALID.
   */
  readonly tools?: readonly Tool[];
  /** Default true; false leaves every call to the caller: the execution ends as `awaiting_tool_execution`. */
  readonly runTools?: boolean;
  /** Called at each change of the connection's state. */
  readonly onState?: (state: ConnectionState) => void;
}

/** Begins an execution over HTTP. */
export function executeRemotely(client: ClientContext, input: ExecuteInput, options: ClientExecuteOptions): ExecuteStream {
  const { sessionId = newId(client), idempotencyKey: key = newId(client), signal, onState, tools = [], runTools = true } = options;
  const sessions = createSessionRequests(client);
  const messages: Message[] = [];
  const aborting = new AbortController();
  const accepted = Promise.withResolvers<string | undefined>();
  let isOver = false;

  async function abort(reason = "user"): Promise<void> {
    const runId = await accepted.promise;
    if (isOver) return;
    await sessions.abort(sessionId, reason, { runId });
    aborting.abort();
  }

  async function run(push: (event: AgentEvent) => void): Promise<RunEnd> {
    const onEvent = (event: AgentEvent): void => {
      calls.see(event);
      if (event.type === "message_end") messages.push(event.message);
      push(event);
    };
    const session = { id: sessionId, messages: () => messages };
    const calls = createCallAnswers(client, { tools: runTools ? tools : [], signal: aborting.signal, session });
    const read = createRunReader(client, { onEvent, onAccepted: accepted.resolve, onState });
    const whole = { key, json: bodyOf(sessionId, input, options), trace: options.trace };
    let end = await read(whole);
    for (;;) {
      const results = await calls.answer(end.complete.pendingToolCalls);
      if (results.length === 0) return end;
      // An aborted run needs no answer, and neither does a call that another client has answered.
      const more = aborting.signal.aborted
        ? undefined
        : await read({ key: newId(client), json: { sessionId, input: results } }).catch(takeForAnswered);
      if (more) end = joined(end, more);
      else {
        for (const result of aborting.signal.aborted ? [] : results) await sessions.sendResults(sessionId, [result]).catch(takeForAnswered);
        end = await read(whole);
      }
    }
  }

  const stream = executionStream({ sessionId, run, abort });
  const outcome = stream.result();
  const over = (): void => {
    isOver = true;
    accepted.resolve(undefined);
  };
  outcome.then(over, over);
  if (signal) abortWith(signal, (reason) => void abort(reason).catch(() => {}), outcome);
  return stream;
}

/** Ignores a refusal because another client answered first or the deadline is over. */
function takeForAnswered(error: unknown): undefined {
  if (!isKnownError(error) || !/^CALL_/.test(error.code)) throw error;
}

/** The end of an execution with what followed it. */
function joined(before: RunEnd, { messages, complete }: RunEnd): RunEnd {
  const spent = addSpent(before.complete, complete);
  const { limit = before.complete.limit } = complete;
  return { messages: [...before.messages, ...messages], complete: { ...complete, ...spent, ...(limit ? { limit } : {}) } };
}

function bodyOf(sessionId: string, input: ExecuteInput, options: ClientExecuteOptions): unknown {
  const { sessionId: _, idempotencyKey: __, signal: ___, onState: ____, trace: _____, runTools = true, agent, context, ...more } = options;
  const { tools, ...chosen } = more;
  const declared = tools?.map((tool) => declaredTool(tool, runTools));
  // A session of our own making begins with this request, and its agent need not be named where the server has one.
  const begun = options.sessionId === undefined ? { ...context } : context;
  return {
    sessionId,
    agent,
    input,
    context: declared ? { ...begun, tools: [...(begun?.tools ?? []), ...declared] } : begun,
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
