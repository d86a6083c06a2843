import type { SessionEvent } from "@loopwright/core";

const durable = { at: 1_767_225_600_000, sessionId: "first", runId: "run" } as const;

/** Batches of events of every shape: texts of all kinds, runs of deltas that end and continue, large and deep values. */
export const channelSamples: readonly (readonly SessionEvent[])[] = [
  [
    { ...durable, type: "run_start", seq: 3, k: 0, model: "m", provider: "p" },
    { ...durable, type: "turn_start", seq: 4, k: 0, turn: 1 },
    { ...durable, type: "message_start", seq: 4, k: 1, role: "assistant" },
    { type: "thinking_start", lane: 4, n: 1, index: 0 },
  ],
  [
    { type: "thinking_delta", lane: 4, n: 2, index: 0, delta: "" },
    { type: "thinking_delta", lane: 4, n: 3, index: 0, delta: 'a line\nand "another"\\\u0000' },
    { type: "thinking_delta", lane: 4, n: 4, index: 1, delta: "of another index" },
    { type: "text_delta", lane: 4, n: 5, index: 1, delta: "\ud83d" },
    { type: "text_delta", lane: 4, n: 6, index: 1, delta: "\ude00 é 漢 \u2028" },
    // What lay between is lost: the text does not continue.
    { type: "text_delta", lane: 4, n: 9, index: 1, delta: "later" },
  ],
  [
    { type: "tool_execution_delta", lane: 7, n: 1, toolCallId: "one", callKey: "r.1.0", delta: "x" },
    { type: "tool_execution_delta", lane: 8, n: 1, toolCallId: "two", callKey: "r.1.1", delta: "y" },
    { type: "tool_execution_delta", lane: 7, n: 2, toolCallId: "one", callKey: "r.1.0", delta: "z" },
    { type: "tool_execution_delta", lane: 7, n: 3, toolCallId: "one", callKey: "r.1.0", delta: "z" },
    { type: "progress", lane: 8, n: 2, callKey: "r.1.1", id: "step", title: "Reads", state: "open" },
    {
      type: "toolcall_end",
      lane: 4,
      n: 10,
      index: 2,
      toolCall: { type: "tool_call", callKey: "r.1.0", id: "c", name: "t", args: { delta: ["a", "b"], deep: { list: [null, 1.5e-7] } } },
    },
  ],
  [{ type: "text_end", lane: 4, n: 11, index: 1, text: "long ".repeat(60_000) }],
  [{ ...durable, type: "aborting", seq: 9, k: 0, reason: "? first\n! {}" }],
];
