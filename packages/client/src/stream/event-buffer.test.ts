import type { AgentEvent } from "@loopwright/core/protocol";
import { describe, expect, it } from "vitest";
import { createEventBuffer, type EventBuffer } from "./event-buffer.ts";

const delta = (lane: number, n: number): AgentEvent => ({ type: "text_delta", index: 0, delta: "x".repeat(50_000), lane, n });
const durable = (seq: number): AgentEvent => ({ type: "session_closed", seq, k: 0, at: 0, sessionId: "s" });
const snapshot = (lane: number, n: number): AgentEvent => ({ type: "message_snapshot", content: [], lane, n });

async function rest(buffer: EventBuffer): Promise<readonly AgentEvent[]> {
  const events: AgentEvent[] = [];
  for (let step = await buffer.next(); !step.done; step = await buffer.next()) events.push(step.value);
  return events;
}

describe("the buffer of an execution", () => {
  it("gives readers that wait, come late or ask ahead the events in order", async () => {
    const buffer = createEventBuffer();
    const ahead = [buffer.next(), buffer.next()];
    for (const seq of [1, 2, 3]) buffer.push(durable(seq));
    buffer.end();
    expect((await Promise.all(ahead)).map(({ value }) => value)).toEqual([durable(1), durable(2)]);
    expect(await rest(buffer)).toEqual([durable(3)]);
  });

  it("holds at most 1 MiB of deltas, then none of their lanes until a snapshot, and always what is durable", async () => {
    const buffer = createEventBuffer();
    buffer.push(durable(1));
    for (let n = 1; n <= 40; n++) buffer.push(delta(1, n));
    buffer.push(durable(50));
    buffer.push(delta(50, 1));
    buffer.push(snapshot(1, 41));
    buffer.push(delta(1, 42));
    buffer.end();
    expect(await rest(buffer)).toEqual([durable(1), durable(50), delta(50, 1), snapshot(1, 41), delta(1, 42)]);
  });

  it("drops nothing for a reader that keeps up", async () => {
    const buffer = createEventBuffer();
    for (let n = 1; n <= 100; n++) {
      buffer.push(delta(1, n));
      expect((await buffer.next()).value).toEqual(delta(1, n));
    }
  });

  it("gives what is left before the error, and nothing to a reader that has left", async () => {
    const failing = createEventBuffer();
    failing.push(durable(1));
    failing.end(new Error("lost"));
    expect((await failing.next()).value).toEqual(durable(1));
    await expect(failing.next()).rejects.toThrow("lost");
    const left = createEventBuffer();
    left.push(durable(1));
    await left.return?.();
    left.push(durable(2));
    expect(await rest(left)).toEqual([]);
  });
});
