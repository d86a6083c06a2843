import {
  callsOf,
  type DurableEvent,
  type EphemeralEvent,
  type Json,
  type Message,
  type PendingApproval,
  type PendingChild,
  type PendingToolCall,
  partsOf,
  type ToolResultMessage,
} from "@loopwright/core/protocol";
import type { ViewCall, ViewProgress } from "./session-view.ts";

type EventOf<Type> = Extract<DurableEvent, { readonly type: Type }>;

/** The calls that a message asks for, before anything was done. */
export function askedCalls(message: Message): readonly ViewCall[] {
  if (message.role !== "assistant") return [];
  return callsOf(message).map(({ callKey, id, name, args }) => ({
    callKey,
    toolCallId: id,
    toolName: name,
    args,
    state: "pending",
    written: "",
    progress: [],
  }));
}

/** A call that runs, from the start of an attempt. */
export function startedCall(call: ViewCall, event: Pick<EventOf<"tool_execution_start">, "seq" | "at" | "args" | "label">): ViewCall {
  const { seq, at, args, label } = event;
  return {
    ...call,
    state: "running",
    args,
    lane: seq,
    n: 0,
    startedAt: at,
    written: "",
    progress: [],
    ...(label === undefined ? {} : { label }),
  };
}

/** A call that the client is to answer, or a person to decide on. */
export function waitingCall(call: ViewCall, { args, deadline, argsDigest, reason }: PendingToolCall & Partial<PendingApproval>): ViewCall {
  return {
    ...call,
    args,
    ...(argsDigest === undefined ? { state: "awaiting_client" } : { state: "awaiting_approval", approval: { argsDigest, reason } }),
    ...(deadline === undefined ? {} : { deadline }),
  };
}

/** A call that waits for the end of another session. `args`: where they are not those of the model any more. */
export function childCall({ lane: _, n: __, ...call }: ViewCall, { args = call.args }: Pick<PendingChild, "args">): ViewCall {
  return { ...call, args, state: "awaiting_child", written: "" };
}

/** How a call ended. */
interface CallEnd extends Pick<EventOf<"tool_execution_end">, "outcome" | "output"> {
  readonly details?: Json | undefined;
  readonly durationMs?: number | undefined;
  readonly progress?: readonly ViewProgress[] | undefined;
}

/** A call with its result. */
export function endedCall(call: ViewCall, { outcome, output, details, durationMs, progress = [] }: CallEnd): ViewCall {
  const { lane: _, n: __, deadline: ___, approval: ____, ...rest } = call;
  return {
    ...rest,
    state: "done",
    written: "",
    outcome,
    output,
    progress,
    ...(details === undefined ? {} : { details }),
    ...(durationMs === undefined ? {} : { durationMs }),
  };
}

/** The same, from the message that the result became. */
export function answeredCall(call: ViewCall, message: ToolResultMessage): ViewCall {
  const { outcome = message.isError ? "error" : "ok", content, details, durationMs, progress } = message;
  return endedCall(call, { outcome, output: partsOf(content), details, durationMs, progress });
}

/** A running call after one event of its lane; the same object where the event does not come next. */
export function foldCall(call: ViewCall, event: EphemeralEvent): ViewCall {
  const { lane, n: last = 0 } = call;
  const { n } = event;
  if (lane !== event.lane) return call;
  if (event.type === "tool_execution_snapshot")
    return n > last ? { ...call, n, written: event.output, progress: event.progress ?? [] } : call;
  if (n !== last + 1) return call;
  if (event.type === "tool_execution_delta") return { ...call, n, written: call.written + event.delta };
  return event.type === "progress" ? { ...call, n, progress: withStep(call.progress, event) } : { ...call, n };
}

function withStep(steps: readonly ViewProgress[], step: ViewProgress): readonly ViewProgress[] {
  const { id, title, icon, state } = step;
  const shown = { id, title, state, ...(icon === undefined ? {} : { icon }) };
  const place = steps.findIndex((other) => other.id === id);
  return place < 0 ? [...steps, shown] : steps.with(place, shown);
}
