import type { AgentEvent, DurableEvent, EphemeralEvent } from "@loopwright/core";

type BodyOf<Union, Type, Drop extends string> = Union extends { readonly type: Type } ? Omit<Union, "type" | Drop> : never;

/** A durable event made by hand. */
export function durable<Type extends DurableEvent["type"]>(
  seq: number,
  type: Type,
  body: BodyOf<DurableEvent, Type, "seq" | "k" | "at" | "sessionId" | "runId" | "parent">,
): AgentEvent {
  return { type, seq, k: 0, at: seq, sessionId: "s", runId: "r", parent: null, ...body } as AgentEvent;
}

/** An ephemeral event made by hand. */
export function ephemeral<Type extends EphemeralEvent["type"]>(
  lane: number,
  type: Type,
  body: BodyOf<EphemeralEvent, Type, "lane" | "n">,
): AgentEvent {
  return { type, lane, n: 1, ...body } as AgentEvent;
}

const call = { type: "tool_call", callKey: "r.1.0", id: "c1", name: "get_time", args: { zone: "UTC" } } as const;

/** A run of two turns: thinking, text and a tool, then the answer. */
export const toolRun: readonly AgentEvent[] = [
  { type: "session_start", sessionId: "s" },
  durable(3, "run_start", { model: "m", provider: "p" }),
  durable(3, "message_start", { messageId: "2", role: "user" }),
  durable(3, "message_end", { messageId: "2", message: { role: "user", content: "what time is it?" } }),
  durable(4, "turn_start", { turn: 1 }),
  durable(4, "message_start", { messageId: "4", role: "assistant" }),
  ephemeral(4, "thinking_start", { index: 0 }),
  ephemeral(4, "thinking_delta", { index: 0, delta: "I " }),
  ephemeral(4, "thinking_delta", { index: 0, delta: "look." }),
  ephemeral(4, "thinking_end", { index: 0, thinking: "I look." }),
  ephemeral(4, "text_start", { index: 1 }),
  ephemeral(4, "text_delta", { index: 1, delta: "I call it." }),
  ephemeral(4, "text_end", { index: 1, text: "I call it." }),
  ephemeral(4, "toolcall_start", { index: 2, toolName: "get_time" }),
  ephemeral(4, "toolcall_delta", { index: 2, delta: '{"zone":"UTC"}' }),
  ephemeral(4, "toolcall_end", { index: 2, toolCall: call }),
  durable(5, "message_end", {
    messageId: "5",
    message: {
      role: "assistant",
      content: [{ type: "thinking", text: "I look." }, { type: "text", text: "I call it." }, call],
      stopReason: "tool_calls",
    },
    usage: { input: 10, output: 5 },
    cost: { totalUsd: 0.001 },
  }),
  durable(6, "tool_execution_start", { toolCallId: "c1", callKey: "r.1.0", toolName: "get_time", attempt: 1, args: { zone: "UTC" } }),
  ephemeral(6, "tool_execution_delta", { toolCallId: "c1", callKey: "r.1.0", delta: "12:" }),
  durable(7, "tool_execution_end", {
    toolCallId: "c1",
    callKey: "r.1.0",
    toolName: "get_time",
    outcome: "ok",
    output: [{ type: "text", text: "12:00" }],
    durationMs: 12,
  }),
  durable(7, "message_start", { messageId: "7", role: "tool_result" }),
  durable(7, "message_end", {
    messageId: "7",
    message: { role: "tool_result", toolCallId: "c1", callKey: "r.1.0", content: "12:00", outcome: "ok" },
  }),
  durable(7, "turn_end", { turn: 1 }),
  durable(8, "turn_start", { turn: 2 }),
  durable(8, "message_start", { messageId: "8", role: "assistant" }),
  ephemeral(8, "text_start", { index: 0 }),
  ephemeral(8, "text_delta", { index: 0, delta: "It is noon." }),
  ephemeral(8, "text_end", { index: 0, text: "It is noon." }),
  durable(9, "message_end", {
    messageId: "9",
    message: { role: "assistant", content: [{ type: "text", text: "It is noon." }], stopReason: "stop" },
    usage: { input: 20, output: 7, cacheRead: 5 },
    cost: { totalUsd: 0.002 },
  }),
  durable(9, "turn_end", { turn: 2 }),
  durable(10, "run_end", { status: "completed", reason: "answer" }),
  { type: "session_end", sessionId: "s", messages: [] },
  { type: "execute_complete", status: "completed" },
];
