import type { AgentEvent, DurableEvent, ToolResultMessage } from "@loopwright/core";
import type { DurableBody } from "@loopwright/core/internals";
import { describe, expect, it } from "vitest";
import { findEventViolation } from "../../src/events/event-stream.ts";

const bodies: readonly (readonly DurableBody[])[] = [
  [{ type: "input_accepted", inputId: "i", mode: "enqueue", message: { role: "user", content: "Go on" } }],
  [
    { type: "run_start", model: "m", provider: "p" },
    { type: "message_start", messageId: "1", role: "user" },
    { type: "message_end", messageId: "1", parent: null, message: { role: "user", content: "Go on" } },
  ],
  [
    { type: "turn_start", turn: 1 },
    { type: "message_start", role: "assistant" },
  ],
  [
    { type: "message_end", messageId: "2", parent: "1", message: { role: "assistant", content: [], stopReason: "stop" } },
    { type: "turn_end", turn: 1 },
  ],
  [{ type: "run_end", status: "completed", reason: "answer" }],
];

/** So many runs of one session, one after the other. */
const runs = (count: number): readonly DurableEvent[] =>
  Array.from({ length: count }, (_, run) =>
    bodies.flatMap((ofFact, fact) =>
      ofFact.map((body, k): DurableEvent => ({ ...body, seq: run * bodies.length + fact + 1, k, at: 0, sessionId: "s", runId: `r${run}` })),
    ),
  ).flat();

describe("the events of a long session", () => {
  it("are judged in as many steps as they are, from the start and from the middle", () => {
    const events = runs(500);
    expect(findEventViolation(events)).toBeUndefined();
    expect(findEventViolation(events.slice(4), { mayLoseDeltas: true })).toBeUndefined();
  });

  it("are still judged at their end", () => {
    const events = runs(500);
    expect(findEventViolation(events.toSpliced(-2, 1))).toMatchObject({ at: events.length - 2 });
  });
});

describe("an execution that joins while two tools run", () => {
  const frame = { at: 0, sessionId: "s", runId: "r" };
  const opened = (lane: number, callKey: string): AgentEvent => ({
    type: "tool_execution_snapshot",
    toolCallId: callKey,
    callKey,
    output: "half",
    lane,
    n: 2,
  });
  const more = (lane: number, callKey: string): AgentEvent => ({
    type: "tool_execution_delta",
    toolCallId: callKey,
    callKey,
    delta: " more",
    lane,
    n: 3,
  });
  const resultOf = (callKey: string): ToolResultMessage => ({ role: "tool_result", toolCallId: callKey, callKey, content: "whole" });
  const ended = (seq: number, callKey: string): readonly AgentEvent[] => [
    {
      type: "tool_execution_end",
      toolCallId: callKey,
      callKey,
      toolName: "t",
      outcome: "ok",
      output: [{ type: "text", text: "whole" }],
      durationMs: 1,
      seq,
      k: 0,
      ...frame,
    },
    { type: "message_start", messageId: `${seq}`, role: "tool_result", seq, k: 1, ...frame },
    { type: "message_end", messageId: `${seq}`, parent: null, message: resultOf(callKey), seq, k: 2, ...frame },
  ];
  const answer = { role: "assistant", content: [{ type: "text", text: "done" }], stopReason: "stop" } as const;
  const stream: readonly AgentEvent[] = [
    { type: "session_start", sessionId: "s" },
    opened(3, "a"),
    opened(4, "b"),
    more(4, "b"),
    ...ended(5, "a"),
    ...ended(6, "b"),
    { type: "turn_end", turn: 1, seq: 6, k: 3, ...frame },
    { type: "turn_start", turn: 2, seq: 7, k: 0, ...frame },
    { type: "message_start", role: "assistant", seq: 7, k: 1, ...frame },
    { type: "text_start", index: 0, lane: 7, n: 1 },
    { type: "text_delta", index: 0, delta: "done", lane: 7, n: 2 },
    { type: "text_end", index: 0, text: "done", lane: 7, n: 3 },
    { type: "message_end", messageId: "8", parent: "6", message: answer, seq: 8, k: 0, ...frame },
    { type: "turn_end", turn: 2, seq: 8, k: 1, ...frame },
    { type: "run_end", status: "completed", reason: "answer", seq: 9, k: 0, ...frame },
    { type: "session_end", sessionId: "s", messages: [resultOf("a"), resultOf("b"), answer] },
    { type: "execute_complete", status: "completed" },
  ];

  it("has the whole answer after them: their lanes are those of tools", () => {
    expect(findEventViolation(stream, { mayLoseDeltas: true })).toBeUndefined();
    expect(findEventViolation(stream)).toBeUndefined();
  });

  it("is refused when a tool has more events after its end", () => {
    const end = stream.findIndex((event) => event.type === "tool_execution_end" && event.callKey === "b");
    const late = [...stream.slice(0, 3), ...stream.slice(4, end + 1), more(4, "b"), ...stream.slice(end + 1)];
    expect(findEventViolation(late, { mayLoseDeltas: true })).toMatchObject({
      message: "got tool_execution_delta after lane 4 was closed",
    });
  });
});
