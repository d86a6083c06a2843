import type { DurableEvent, EphemeralEvent, SessionEvent, TransportEvent } from "@loopwright/core/protocol";
import { z } from "zod";
import { pendingApproval } from "./approval.ts";
import { assistantPart, cost, resultPart, toolCallPart, usage } from "./content.ts";
import { json, jsonObject, listOf } from "./json.ts";
import { callOutcome, message, progressFields, progressStep } from "./message.ts";
import { exactly } from "./schema-of-type.ts";
import { errorCode, pendingToolCall, waitingAgent } from "./session.ts";

const parent = z.string().nullable();
const spent = { usage: usage.exactOptional(), cost: cost.exactOptional() };
const place = { seq: z.int(), k: z.int(), at: z.number(), sessionId: z.string(), runId: z.string().exactOptional() };
const call = { toolCallId: z.string(), callKey: z.string(), toolName: z.string() };

/** A durable event of one type. */
function durable<const Type extends string, Fields extends z.ZodRawShape>(type: Type, fields: Fields) {
  return z.object({ type: z.literal(type), ...place, ...fields });
}

const durableTypes = [
  durable("session_changed", { title: z.string().exactOptional(), metadata: jsonObject.exactOptional() }),
  durable("session_closed", {}),
  durable("head_moved", { to: parent }),
  durable("input_accepted", {
    inputId: z.string(),
    mode: z.enum(["enqueue", "steer", "interrupt", "merge"]),
    message: message.exactOptional(),
    parent: parent.exactOptional(),
  }),
  durable("run_start", { model: z.string(), provider: z.string() }),
  durable("message_start", { messageId: z.string().exactOptional(), role: z.enum(["user", "assistant", "tool_result", "notice"]) }),
  durable("message_end", {
    messageId: z.string(),
    parent,
    message,
    ...spent,
    timings: z.object({ totalMs: z.number(), firstTokenMs: z.number().exactOptional() }).exactOptional(),
  }),
  durable("turn_start", { turn: z.number() }),
  durable("turn_end", { turn: z.number() }),
  durable("attempt_discarded", {
    turn: z.number(),
    attempt: z.number(),
    code: errorCode,
    reason: z.string(),
    willRetry: z.boolean(),
    ...spent,
  }),
  durable("retry_scheduled", { turn: z.number(), until: z.number(), reason: z.string() }),
  durable("tool_execution_start", { ...call, label: z.string().exactOptional(), attempt: z.number(), args: jsonObject }),
  durable("tool_execution_end", {
    ...call,
    outcome: callOutcome,
    output: listOf(resultPart),
    details: json.exactOptional(),
    durationMs: z.number().exactOptional(),
    progress: listOf(progressStep).exactOptional(),
    ...spent,
  }),
  durable("awaiting_tool_execution", { toolCalls: listOf(pendingToolCall) }),
  durable("approval_requested", {
    ...call,
    args: jsonObject,
    argsDigest: z.string(),
    reason: z.string().exactOptional(),
    deadline: z.number().exactOptional(),
    session: z.string().exactOptional(),
    agent: z.string().exactOptional(),
  }),
  durable("approval_decided", {
    toolCallId: z.string(),
    callKey: z.string(),
    decision: z.enum(["allow", "deny"]),
    by: z.string().exactOptional(),
    args: jsonObject.exactOptional(),
    note: z.string().exactOptional(),
  }),
  durable("agent_start", {
    callKey: z.string().exactOptional(),
    session: z.string(),
    agent: z.string(),
    awaited: z.literal(true).exactOptional(),
    background: z.literal(true).exactOptional(),
    args: jsonObject.exactOptional(),
  }),
  durable("agent_waiting", waitingAgent),
  durable("agent_end", { callKey: z.string().exactOptional(), session: z.string(), ...spent }),
  durable("aborting", { reason: z.string() }),
  durable("limit_reached", { which: z.string(), value: z.number() }),
  durable("context_compacted", {
    from: z.string(),
    to: z.string(),
    summary: z.string(),
    pinned: z.array(z.string()).readonly().exactOptional(),
    tokensBefore: z.number().exactOptional(),
    tokensAfter: z.number().exactOptional(),
    model: z.string().exactOptional(),
    ...spent,
  }),
  durable("verdict", {
    hook: z.string(),
    point: z.enum(["accept", "prepare", "filter", "decide", "parse", "gate", "review", "run"]),
    action: z.string(),
    reason: z.string().exactOptional(),
    callKey: z.string().exactOptional(),
  }),
  durable("expense", { usage, cost: cost.exactOptional(), provider: z.string().exactOptional(), model: z.string().exactOptional() }),
  durable("error", { reason: z.enum(["error", "aborted"]), code: errorCode, error: z.string() }),
  durable("run_end", { status: z.enum(["completed", "aborted", "failed"]), reason: z.string(), ...spent }),
] as const;

/** A durable event, with its cursor. */
export const durableEvent: z.ZodType<DurableEvent> = exactly<DurableEvent>()(z.discriminatedUnion("type", durableTypes));

/** An ephemeral event of one type. */
function ephemeral<const Type extends string, Fields extends z.ZodRawShape>(type: Type, fields: Fields) {
  return z.object({ type: z.literal(type), lane: z.int(), n: z.int(), ...fields });
}

/** An event of the child's own stream. Its schema is one of those in this file, and is not repeated here. */
const eventOfChild = z.looseObject({ type: z.string() }) as unknown as z.ZodType<SessionEvent>;

const index = z.int();
const ephemeralTypes = [
  ephemeral("text_start", { index }),
  ephemeral("text_delta", { index, delta: z.string() }),
  ephemeral("text_end", { index, text: z.string() }),
  ephemeral("thinking_start", { index }),
  ephemeral("thinking_delta", { index, delta: z.string() }),
  ephemeral("thinking_end", { index, thinking: z.string() }),
  ephemeral("toolcall_start", { index, toolName: z.string() }),
  ephemeral("toolcall_delta", { index, delta: z.string() }),
  ephemeral("toolcall_end", { index, toolCall: toolCallPart }),
  ephemeral("message_snapshot", {
    content: listOf(assistantPart),
    calls: listOf(z.object({ index, toolName: z.string(), argsText: z.string() })).exactOptional(),
  }),
  ephemeral("tool_execution_delta", { toolCallId: z.string(), callKey: z.string(), delta: z.string() }),
  ephemeral("tool_execution_snapshot", {
    toolCallId: z.string(),
    callKey: z.string(),
    output: z.string(),
    progress: listOf(progressStep).exactOptional(),
  }),
  ephemeral("progress", { callKey: z.string(), ...progressFields }),
  ephemeral("agent_delta", { callKey: z.string(), session: z.string(), agent: z.string(), event: eventOfChild }),
] as const;

/** An ephemeral event between two facts, with its lane. */
export const ephemeralEvent: z.ZodType<EphemeralEvent> = exactly<EphemeralEvent>()(z.discriminatedUnion("type", ephemeralTypes));

/** The frames around an execution, and the frame of a session that rests. */
export const transportEvent: z.ZodType<TransportEvent> = exactly<TransportEvent>()(
  z.discriminatedUnion("type", [
    z.object({ type: z.literal("session_start"), sessionId: z.string(), runId: z.string().exactOptional() }),
    z.object({ type: z.literal("session_end"), sessionId: z.string(), messages: listOf(message) }),
    z.object({
      type: z.literal("execute_complete"),
      status: z.enum(["completed", "awaiting_tool_execution", "aborted", "error"]),
      pendingToolCalls: listOf(pendingToolCall).exactOptional(),
      pendingApprovals: listOf(pendingApproval).exactOptional(),
    }),
    z.object({ type: z.literal("rest") }),
  ]),
);
