import { expect, it } from "vitest";
import type { DurableEvent, SessionEvent } from "../../loop/event.ts";
import { createHub, type LaneOptions } from "./hub.ts";

const content = [{ type: "text" as const, text: "one two" }];
const begins = { type: "message_start", role: "assistant", runId: "r1", seq: 3, k: 0, at: 1 } as unknown as DurableEvent;
const ends = { type: "message_end", message: { role: "assistant", content }, runId: "r1", seq: 4, k: 0, at: 1 } as unknown as DurableEvent;
const lane = (said: string): LaneOptions => ({
  id: 3,
  runId: "r1",
  isAnswer: true,
  snapshot: () => (said === "" ? undefined : { type: "message_snapshot", content: [{ type: "text", text: said }] }),
});

it.each(["one", "one two"])("an answer whose lane was opened again after the text %j ends with a snapshot", (said) => {
  const hub = createHub();
  const heard: SessionEvent[] = [];
  hub.listen((events) => void heard.push(...events));
  hub.publish([begins]);
  const first = hub.openRelay(lane(said));
  first.publish([{ type: "text_delta", index: 0, delta: said, lane: 3, n: 2 }]);
  first.close();
  hub.openRelay(lane("")).close();
  hub.openRelay(lane(""));
  hub.publish([ends]);
  expect(heard.slice(-2)).toEqual([{ type: "message_snapshot", content, lane: 3, n: 2 ** 31 - 1 }, ends]);
});

it("an answer without any published event is published as deltas before its end", () => {
  const hub = createHub();
  const heard: SessionEvent[] = [];
  hub.listen((events) => void heard.push(...events));
  hub.publish([begins]);
  hub.openRelay(lane("")).close();
  hub.openRelay(lane(""));
  hub.publish([ends]);
  expect(heard.map(({ type }) => type)).toEqual(["message_start", "text_start", "text_delta", "text_end", "message_end"]);
});

it("counts events without a subscriber, so that a later subscriber gets them in a snapshot", () => {
  const hub = createHub();
  const lane = hub.openLane({ id: 7, runId: "run", isAnswer: true, snapshot: () => ({ type: "message_snapshot", content: [] }) });
  expect(lane.isHeard).toBe(false);
  expect(hub.snapshots()).toEqual([]);
  lane.passOver();
  expect(hub.snapshots()).toMatchObject([{ type: "message_snapshot", lane: 7, n: 1 }]);
  const stop = hub.listen(() => {});
  expect(lane.isHeard).toBe(true);
  stop();
  expect(lane.isHeard).toBe(false);
  expect(createHub(() => {}).openLane({ id: 7, runId: "run", isAnswer: true, snapshot: () => undefined }).isHeard).toBe(true);
});
