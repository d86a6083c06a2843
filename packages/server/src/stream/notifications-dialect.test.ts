import type { DurableEvent, SessionEvent } from "@loopwright/core/protocol";
import { describe, expect, it } from "vitest";
import { createNotificationsDialect } from "./notifications-dialect.ts";

type Body = DurableEvent extends infer E ? (E extends DurableEvent ? Omit<E, "seq" | "k" | "at" | "sessionId" | "runId"> : never) : never;
const durable = (seq: number, body: Body, runId = "r1"): SessionEvent =>
  ({ ...body, seq, k: 0, at: 0, sessionId: "c1", runId }) as DurableEvent;

describe("the notifications dialect", () => {
  it("tells a run with a tool and text in its words, each with conversation and task", () => {
    const dialect = createNotificationsDialect(() => undefined);
    const frames = dialect.ofEvents("c1", [
      durable(1, { type: "input_accepted", inputId: "i", mode: "enqueue" }),
      durable(2, { type: "run_start", model: "m", provider: "p" }),
      durable(3, { type: "message_start", role: "assistant" }),
      { type: "text_delta", lane: 3, n: 1, index: 0, delta: "hel" },
      durable(5, { type: "tool_execution_start", toolCallId: "t", callKey: "k", toolName: "clock", attempt: 1, args: {} }),
      durable(6, { type: "tool_execution_end", toolCallId: "t", callKey: "k", toolName: "clock", outcome: "ok", output: [] }),
      durable(7, {
        type: "message_end",
        messageId: "7",
        parent: "1",
        message: { role: "assistant", content: [{ type: "text", text: "hello" }], stopReason: "stop" },
      }),
      durable(8, { type: "run_end", status: "completed", reason: "answer" }),
    ]);
    expect(frames.map(({ event, data }) => (data["status"] ? `${event} ${data["status"]}` : event))).toEqual([
      "AITaskStatusChanged Pending",
      "AITaskStatusChanged Running",
      "AIMessageDelta",
      "AITaskStatusChanged ToolCalling",
      "AIToolCallStarted",
      "AIToolCallCompleted",
      "AIMessageComplete",
      "AITaskStatusChanged Completed",
    ]);
    for (const { data } of frames) expect(data).toMatchObject({ conversationId: "c1", taskId: "r1" });
  });

  it("tells the deltas of two conversations apart", () => {
    const dialect = createNotificationsDialect(() => undefined);
    dialect.ofEvents("c1", [durable(3, { type: "message_start", role: "assistant" }, "r1")]);
    dialect.ofEvents("c2", [durable(3, { type: "message_start", role: "assistant" }, "r2")]);
    const [frame] = dialect.ofEvents("c2", [{ type: "text_delta", lane: 3, n: 1, index: 0, delta: "x" }]);
    expect(frame?.data).toEqual({ conversationId: "c2", taskId: "r2", text: "x" });
  });

  it("tells a failed run as one stream error and the status Failed", () => {
    const frames = createNotificationsDialect(() => undefined).ofEvents("c1", [
      durable(8, { type: "error", reason: "error", code: "MODEL_AUTH", error: "refused" }),
      { ...durable(8, { type: "run_end", status: "failed", reason: "MODEL_AUTH" }), k: 1 } as DurableEvent,
    ]);
    expect(frames).toEqual([
      { event: "AIStreamError", data: { conversationId: "c1", taskId: "r1", code: "MODEL_AUTH", error: "refused" } },
      { event: "AITaskStatusChanged", data: { conversationId: "c1", taskId: "r1", status: "Failed" } },
    ]);
  });

  it("gives notifications of the product their own name", () => {
    expect(createNotificationsDialect(() => undefined).ofNotification({ type: "job_progress", data: { done: 3 } })).toEqual({
      event: "JobProgress",
      data: { type: "job_progress", data: { done: 3 } },
    });
  });
});
