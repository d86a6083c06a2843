import type { DurableEvent, SessionEvent } from "@loopwright/core/protocol";
import { describe, expect, it } from "vitest";
import { notificationsDialect } from "./notifications-dialect.ts";

type Body = DurableEvent extends infer E ? (E extends DurableEvent ? Omit<E, "seq" | "k" | "at" | "sessionId" | "runId"> : never) : never;
const durable = (seq: number, body: Body, runId = "r1"): SessionEvent =>
  ({ ...body, seq, k: 0, at: 0, sessionId: "c1", runId }) as DurableEvent;

const openReader = (runOf: (id: string) => string | undefined = () => undefined) => notificationsDialect.open({ runOf });

describe("the notifications dialect", () => {
  it("encodes a run with a tool and text in its own terms, each with conversation and task", () => {
    const dialect = openReader();
    const frames = dialect.events("c1", [
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

  it("distinguishes the deltas of two conversations", () => {
    const dialect = openReader();
    dialect.events("c1", [durable(3, { type: "message_start", role: "assistant" }, "r1")]);
    dialect.events("c2", [durable(3, { type: "message_start", role: "assistant" }, "r2")]);
    const [frame] = dialect.events("c2", [{ type: "text_delta", lane: 3, n: 1, index: 0, delta: "x" }]);
    expect(frame?.data).toEqual({ conversationId: "c2", taskId: "r2", text: "x" });
  });

  it("encodes a failed run as one stream error and the status Failed", () => {
    const frames = openReader().events("c1", [
      durable(8, { type: "error", reason: "error", code: "MODEL_AUTH", error: "refused" }),
      { ...durable(8, { type: "run_end", status: "failed", reason: "MODEL_AUTH" }), k: 1 } as DurableEvent,
    ]);
    expect(frames).toEqual([
      { event: "AIStreamError", data: { conversationId: "c1", taskId: "r1", code: "MODEL_AUTH", error: "refused" } },
      { event: "AITaskStatusChanged", data: { conversationId: "c1", taskId: "r1", status: "Failed" } },
    ]);
  });

  it("gives notifications of the product their own name", () => {
    expect(openReader().notification({ type: "job_progress", data: { done: 3 } })).toEqual([
      { event: "JobProgress", data: { type: "job_progress", data: { done: 3 } } },
    ]);
  });

  it("names the open run of the session where an answer began before the stream, and of 1,000 open answers remembers the newest", () => {
    const dialect = openReader((id) => `open run of ${id}`);
    const delta = (lane: number): SessionEvent => ({ type: "text_delta", lane, n: 1, index: 0, delta: "x" });
    const taskOf = (lane: number): unknown => dialect.events("c1", [delta(lane)])[0]?.data["taskId"];
    expect(taskOf(3)).toBe("open run of c1");
    for (let lane = 1; lane <= 1_001; lane++)
      dialect.events("c1", [durable(lane, { type: "message_start", role: "assistant" }, `r${lane}`)]);
    expect([taskOf(1), taskOf(2), taskOf(1_001)]).toEqual(["open run of c1", "r2", "r1001"]);
  });

  it("marks deltas alone as what a slow reader may miss", () => {
    const frames = openReader().events("c1", [
      durable(2, { type: "run_start", model: "m", provider: "p" }),
      { type: "text_delta", lane: 3, n: 1, index: 0, delta: "x" },
    ]);
    expect(frames.map(({ event, isSpare = false }) => [event, isSpare])).toEqual([
      ["AITaskStatusChanged", false],
      ["AIMessageDelta", true],
    ]);
  });
});
