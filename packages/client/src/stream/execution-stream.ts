/*
 * Owns: what every stream of an execution has, whatever reads its run: one `session_start`, one `session_end`, one `execute_complete`, one reader,
 * one result. Nothing waits for the reader, and a result that no caller asks for is no unhandled rejection.
 */
import { type AgentEvent, type ExecuteResult, type ExecuteStream, type Message, textOf } from "@loopwright/core/protocol";
import { clientError, errorFromDocument } from "../client-error.ts";
import { createEventBuffer } from "./event-buffer.ts";
import { createMissedText } from "./missed-text.ts";

/** The last frame of an execution. */
export type ExecuteComplete = Extract<AgentEvent, { readonly type: "execute_complete" }> &
  Pick<ExecuteResult, "usage" | "cost" | "limit" | "runId"> & { readonly error?: unknown };

/** How an execution ended. */
export interface RunEnd {
  /** Of the whole execution, results in call order. */
  readonly messages: readonly Message[];
  readonly complete: ExecuteComplete;
}

export interface ExecutionSource {
  readonly sessionId: string;
  /** Reads the run, and gives each of its events to the stream. */
  run(push: (event: AgentEvent) => void): Promise<RunEnd>;
  abort(reason?: string): Promise<void>;
}

/** Begins at once. */
export function executionStream({ sessionId, run, abort }: ExecutionSource): ExecuteStream {
  const buffer = createEventBuffer();
  const withMissed = createMissedText();
  let isRead = false;
  buffer.push({ type: "session_start", sessionId });
  const outcome = run((event) => withMissed(event).forEach(buffer.push)).then((end) => {
    buffer.push({ type: "session_end", sessionId, messages: end.messages });
    buffer.push(end.complete);
    buffer.end();
    return resultOf(end);
  });
  // The reader and the caller of `result` get the error.
  outcome.catch(buffer.end);
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

function resultOf({ messages, complete }: RunEnd): ExecuteResult {
  const { type: _, error: written, ...rest } = complete;
  const last = messages.findLast((message) => message.role === "assistant");
  const { status, pendingToolCalls = [], pendingApprovals = [], ...spent } = rest;
  const common = { ...spent, messages, text: last ? textOf(last) : "", ...(last ? { finishReason: last.stopReason } : {}) };
  if (status === "completed") return { ...common, status, output: undefined };
  if (status === "awaiting_tool_execution") return { ...common, status, pendingToolCalls, pendingApprovals };
  const error = errorFromDocument(written, { runId: rest.runId }) ?? clientError("INTERNAL", { message: "The run failed." });
  return { ...common, status, error };
}
