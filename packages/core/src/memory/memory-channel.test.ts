import { expect, it } from "vitest";
import type { SessionEvent } from "../loop/event.ts";
import { memoryChannel } from "./memory-channel.ts";

const ref = { scope: "local", session: "first" };
const delta = (n: number): SessionEvent => ({ type: "text_delta", lane: 1, n, index: 0, delta: "x" });

it("delivers what was published in one turn as one call", async () => {
  const channel = memoryChannel();
  const calls: number[] = [];
  channel.subscribe(ref, (events) => calls.push(events.length));
  channel.publish(ref, [delta(1), delta(2)]);
  channel.publish(ref, [delta(3)]);
  await Promise.resolve();
  expect(calls).toEqual([3]);
});

it("tells the logger the name of what a listener threw, and nothing of its text", async () => {
  const lines: unknown[] = [];
  const channel = memoryChannel({ logger: { log: (...line) => lines.push(line) } });
  channel.subscribe(ref, () => {
    throw new RangeError("a secret");
  });
  channel.publish(ref, [delta(1)]);
  await Promise.resolve();
  expect(lines).toEqual([["error", "A listener of the event channel threw.", { name: "RangeError" }]]);
});
