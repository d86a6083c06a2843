import { describe, expect, it } from "vitest";
import type { AgentEvent } from "../../loop/event.ts";
import { createReaderBuffer } from "./reader-buffer.ts";

const start: AgentEvent = { type: "session_start", sessionId: "s" };
const rest: AgentEvent = { type: "rest" };

describe("the events that wait for a reader", () => {
  it("answer requests that were made at once, each with its own", async () => {
    const buffer = createReaderBuffer(() => []);
    const asked = [buffer.next(), buffer.next(), buffer.next()];
    buffer.push([start, rest]);
    buffer.end();
    expect((await Promise.all(asked)).map(({ value }) => value)).toEqual([start, rest, undefined]);
  });

  it("are dropped for a reader that leaves, also while it waits", async () => {
    const buffer = createReaderBuffer(() => [{ type: "text_delta", index: 0, delta: "x", lane: 1, n: 1 }]);
    const asked = buffer.next();
    await buffer.return?.();
    expect(await asked).toEqual({ value: undefined, done: true });
    buffer.push([start]);
    expect(await buffer.next()).toEqual({ value: undefined, done: true });
  });

  it("lose their deltas once when they are too many, and begin each lane again with its snapshot", async () => {
    const snapshot: AgentEvent = { type: "message_snapshot", content: [], lane: 1, n: 9 };
    const buffer = createReaderBuffer(() => [snapshot]);
    const delta = (n: number): AgentEvent => ({ type: "text_delta", index: 0, delta: "x".repeat(400_000), lane: 1, n });
    buffer.push([start, delta(1)]);
    buffer.push([delta(2), rest]);
    buffer.push([delta(3)]);
    buffer.end();
    const values: unknown[] = [];
    for (let step = await buffer.next(); !step.done; step = await buffer.next()) values.push(step.value);
    expect(values).toEqual([start, rest, snapshot]);
  });

  it("publish a whole answer before its end when its deltas were too many, whether it ends before or after they were dropped", async () => {
    const end = (text: string): AgentEvent => ({
      ...{ type: "message_end", messageId: "1", parent: null, seq: 9, k: 0, at: 0, sessionId: "s" },
      message: { role: "assistant", content: [{ type: "text", text }], provider: "p", model: "m", stopReason: "stop" },
    });
    const delta = (lane: number): AgentEvent => ({ type: "text_delta", index: 0, delta: "x".repeat(300_000), lane, n: 1 });
    const buffer = createReaderBuffer(() => []);
    buffer.push([start, delta(1), end("one"), delta(2)]);
    buffer.push([end("two"), end("told elsewhere")]);
    buffer.end();
    const values: AgentEvent[] = [];
    for (let step = await buffer.next(); !step.done; step = await buffer.next()) values.push(step.value);
    expect(values.map((event) => ("content" in event ? `snapshot ${JSON.stringify(event.content)} of ${event.lane}` : event.type))).toEqual(
      [
        "session_start",
        'snapshot [{"type":"text","text":"one"}] of 1',
        "message_end",
        'snapshot [{"type":"text","text":"two"}] of 2',
        "message_end",
        "message_end",
      ],
    );
  });
});
