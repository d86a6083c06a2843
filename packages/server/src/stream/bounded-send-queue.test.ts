import { manualClock } from "@loopwright/core/memory";
import { expect, it } from "vitest";
import { BoundedSendQueue } from "./bounded-send-queue.ts";
import { encodeFrames, frameText } from "./sse-frames.ts";
import { openWebSink } from "./web-sink.ts";

const streamQueueBytes = 1_000;
const frame = (name: string, length = 0) => frameText(`event: ${name}\n`, { text: "x".repeat(length) });

function open() {
  const { sink: inner, response } = openWebSink({ status: 200, headers: new Headers() });
  const clock = manualClock();
  const sink = BoundedSendQueue.over(inner, { clock, limits: { streamQueueBytes, streamStallMs: 60_000 } });
  const fill = (): void => sink.write(encodeFrames(`${":".repeat(streamQueueBytes)}\n\n`));
  /** The names of the frames until the stream ends. */
  const namesRead = async (): Promise<readonly string[]> => {
    sink.end();
    return [...(await response.text()).matchAll(/^event: (\w+)$/gm)].map(([, name = ""]) => name);
  };
  return { sink, clock, response, fill, namesRead };
}

it("frames that are offered while there is room are written at once, spare ones too", async () => {
  const { sink, namesRead } = open();
  sink.offer(frame("one"));
  sink.offer(frame("two"), { isSpare: true });
  sink.offer(frame("three"), { key: "k" });
  expect(await namesRead()).toEqual(["one", "two", "three"]);
});

it("beside a full queue the newest frame of each key is held, spare ones are dropped, and all that is held comes in order", async () => {
  const { sink, fill, namesRead } = open();
  fill();
  sink.offer(frame("old"), { key: "k" });
  sink.offer(frame("first"));
  sink.offer(frame("spare"), { isSpare: true });
  sink.offer(frame("new"), { key: "k" });
  sink.offer(frame("other"), { key: "l" });
  sink.write(encodeFrames("event: written\n\n"));
  expect(await namesRead()).toEqual(["first", "new", "other", "written"]);
});

it("held frames count as queued until they are written; then there is room again", async () => {
  const { sink, fill, response } = open();
  fill();
  const before = sink.queuedBytes;
  sink.offer(frame("one", 500));
  expect(sink.queuedBytes).toBeGreaterThan(before + 500);
  const reader = response.body?.getReader();
  for (let text = ""; !text.includes("event: one"); ) text += new TextDecoder().decode((await reader?.read())?.value);
  expect([sink.queuedBytes, sink.hasRoom(streamQueueBytes)]).toEqual([0, true]);
  sink.destroy();
});

it("a stream that would have to hold more bytes than its queue may have is cut, and one that replaces a frame is not", async () => {
  const { sink, fill, response } = open();
  let isOver = false;
  sink.onClose(() => {
    isOver = true;
  });
  fill();
  for (let times = 0; times < 100; times++) sink.offer(frame("same", 600), { key: "k" });
  expect(isOver).toBe(false);
  sink.offer(frame("more", 600), { key: "l" });
  expect(isOver).toBe(true);
  await expect(response.text()).rejects.toThrow("The stream was cut.");
});

it("a reader that takes nothing while a frame is held is cut after `streamStallMs`", () => {
  const { sink, fill, clock } = open();
  let isOver = false;
  sink.onClose(() => {
    isOver = true;
  });
  fill();
  sink.offer(frame("one"));
  clock.advance(59_999);
  expect(isOver).toBe(false);
  clock.advance(1);
  expect(isOver).toBe(true);
});

it("a stream that its reader closes is left, and one that this side ends or cuts is not", async () => {
  const [closed, ended, cut] = [open(), open(), open()];
  expect(closed.sink.isLeft).toBe(false);
  await closed.response.body?.cancel();
  ended.sink.end();
  cut.sink.destroy();
  expect([closed.sink.isLeft, ended.sink.isLeft, cut.sink.isLeft]).toEqual([true, false, false]);
});
