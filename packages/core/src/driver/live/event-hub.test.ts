import { expect, it } from "vitest";
import type { DurableEvent, SessionEvent } from "../../loop/event.ts";
import { createEventHub, type LaneOptions } from "./event-hub.ts";

const content = [{ type: "text" as const, text: "one two" }];
const begins = { type: "message_start", role: "assistant", runId: "r1", seq: 3, k: 0, at: 1 } as unknown as DurableEvent;
const ends = { type: "message_end", message: { role: "assistant", content }, runId: "r1", seq: 4, k: 0, at: 1 } as unknown as DurableEvent;
const lane = (written: string): LaneOptions => ({
  id: 3,
  runId: "r1",
  isAnswer: true,
  snapshot: () => (written === "" ? undefined : { type: "message_snapshot", content: [{ type: "text", text: written }] }),
});

it.each(["one", "one two"])("an answer whose lane was opened again after the text %j ends with a snapshot", (written) => {
  const hub = createEventHub();
  const received: SessionEvent[] = [];
  hub.listen((events) => void received.push(...events));
  hub.publish([begins]);
  const first = hub.openRelay(lane(written));
  first.publish([{ type: "text_delta", index: 0, delta: written, lane: 3, n: 2 }]);
  first.close();
  hub.openRelay(lane("")).close();
  hub.openRelay(lane(""));
  hub.publish([ends]);
  expect(received.slice(-2)).toEqual([{ type: "message_snapshot", content, lane: 3, n: 2 ** 31 - 1 }, ends]);
});

it("an answer without any published event is published as deltas before its end", () => {
  const hub = createEventHub();
  const received: SessionEvent[] = [];
  hub.listen((events) => void received.push(...events));
  hub.publish([begins]);
  hub.openRelay(lane("")).close();
  hub.openRelay(lane(""));
  hub.publish([ends]);
  expect(received.map(({ type }) => type)).toEqual(["message_start", "text_start", "text_delta", "text_end", "message_end"]);
});

it("counts events without a subscriber, so that a later subscriber gets them in a snapshot", () => {
  const hub = createEventHub();
  const lane = hub.openLane({ id: 7, runId: "run", isAnswer: true, snapshot: () => ({ type: "message_snapshot", content: [] }) });
  expect(lane.isReceived).toBe(false);
  expect(hub.snapshots()).toEqual([]);
  lane.passOver();
  expect(hub.snapshots()).toMatchObject([{ type: "message_snapshot", lane: 7, n: 1 }]);
  const stop = hub.listen(() => {});
  expect(lane.isReceived).toBe(true);
  stop();
  expect(lane.isReceived).toBe(false);
  expect(createEventHub(() => {}).openLane({ id: 7, runId: "run", isAnswer: true, snapshot: () => undefined }).isReceived).toBe(true);
});

it("knows each open lane as its own, however many tools run at once, and forgets the first of those that were closed", () => {
  const hub = createEventHub(() => {});
  const open = (id: number) => hub.openLane({ id, runId: "run", isAnswer: false, snapshot: () => undefined });
  const lanes = Array.from({ length: 200 }, (_, id) => open(id));
  expect(lanes.every(({ id }) => hub.isOwn(id))).toBe(true);
  for (const lane of lanes) lane.close();
  const next = Array.from({ length: 100 }, (_, at) => open(200 + at));
  expect(next.every(({ id }) => hub.isOwn(id))).toBe(true);
  expect(hub.isOwn(0)).toBe(false);
  expect(lanes.filter(({ id }) => hub.isOwn(id)).length).toBeLessThanOrEqual(64);
});
