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

it("logs the name of the error that a listener threw, without its text", async () => {
  const lines: unknown[] = [];
  const channel = memoryChannel({ logger: { log: (...line) => lines.push(line) } });
  channel.subscribe(ref, () => {
    throw new RangeError("a secret");
  });
  channel.publish(ref, [delta(1)]);
  await Promise.resolve();
  expect(lines).toEqual([["error", "A listener of the event channel threw.", { name: "RangeError" }]]);
});

it("delivers to a scope the events that one session publishes in one turn as one call, and keeps those of several sessions in order", async () => {
  const channel = memoryChannel();
  const received: string[] = [];
  channel.subscribeScope("local", {
    events: (session, events) => received.push(`${session} ${events.length}`),
    notification: ({ type }) => received.push(type),
  });
  channel.publish(ref, [delta(1)]);
  channel.publish(ref, [delta(2)]);
  channel.publish({ ...ref, session: "second" }, [delta(1)]);
  channel.notify("local", { type: "refresh" });
  channel.publish(ref, [delta(3)]);
  await Promise.resolve();
  expect(received).toEqual(["first 2", "second 1", "refresh", "first 1"]);
});

it("touches each of 100,000 events that are published in one turn a bounded number of times", async () => {
  const channel = memoryChannel();
  const count = 100_000;
  let touched = 0;
  const counted = (events: readonly SessionEvent[]): readonly SessionEvent[] =>
    ({
      ...events,
      length: events.length,
      *[Symbol.iterator]() {
        for (const event of events) {
          touched++;
          yield event;
        }
      },
    }) as never;
  let [one, all, at] = [0, 0, 0];
  channel.subscribe(ref, (events) => {
    one += events.length;
  });
  channel.subscribeScope("local", {
    events(_, events) {
      all += events.length;
      at++;
    },
  });
  const half = count / 2;
  channel.publish(ref, counted(Array.from({ length: half }, (_, n) => delta(n))));
  for (let n = 0; n < half; n++) channel.publish({ ...ref, session: n % 2 === 0 ? "first" : "second" }, counted([delta(half + n)]));
  await Promise.resolve();
  expect([one, all, at]).toEqual([half + half / 2, count, half]);
  expect(touched).toBeLessThanOrEqual(2 * count);
});
