import type { DurableEvent } from "@loopwright/core/protocol";
import { expect, it } from "vitest";
import { checkRecording } from "../../check/check-recording.ts";
import { Recording } from "./recording.ts";

const start = { type: "message_start", role: "assistant", seq: 3, k: 0 };
const end = { type: "message_end", message: { role: "assistant", content: [{ type: "text", text: "Hello there" }] }, seq: 4, k: 0 };
const delta = (n: number, text: string): object => ({ type: "text_delta", index: 0, delta: text, lane: 3, n });
const snapshot = (n: number, text: string): object => ({ type: "message_snapshot", content: [{ type: "text", text }], lane: 3, n });
/** The connection is gone at this place. */
const cut = "cut";

function record(frames: readonly (object | typeof cut)[]): Recording {
  const recording = new Recording();
  for (const frame of frames) {
    if (frame === cut) recording.disconnect();
    else recording.take("seq" in (frame as object) ? `${(frame as { seq: number }).seq}.0` : undefined, JSON.stringify(frame));
  }
  return recording;
}

it("finds nothing wrong in what a good server sends, over a cut as well", () => {
  const whole = record([start, delta(1, "Hello"), delta(2, " there"), end]);
  expect([whole.flaws, whole.wholeTexts]).toEqual([[], 1]);
  const healed = record([start, delta(1, "Hello"), cut, snapshot(2, "Hello the"), delta(3, "re"), end]);
  expect([healed.flaws, healed.healedTexts]).toEqual([[], 1]);
  const late = record([start, delta(1, "Hello"), cut, snapshot(2 ** 31 - 1, "Hello there"), end]);
  expect([late.flaws, late.healedTexts]).toEqual([[], 1]);
  const behind = record([start, delta(1, "Hello"), delta(2, " the"), cut, delta(1, "Hello"), delta(2, " the"), delta(3, "re"), end]);
  expect(behind.flaws).toEqual([]);
});

it.each<[string, readonly (object | typeof cut)[], RegExp]>([
  ["a durable event that comes twice", [start, start], /message_start 3\.0 came after 3\.0/],
  ["a durable event that comes too late", [end, start], /came after 4\.0/],
  ["a gap in the deltas that no snapshot heals", [start, delta(1, "Hello"), delta(3, "re")], /text_delta 3 of lane 3 came after 1/],
  ["deltas spliced over a cut", [start, delta(1, "Hello"), cut, delta(3, "re"), end], /text_delta 3 of lane 3 came after 1/],
  ["a delta delivered twice on one connection", [start, delta(1, "Hello"), delta(1, "Hello")], /came after 1 on one connection/],
  ["a delta of a lane that is over", [start, delta(1, "Hello there"), end, delta(2, "!")], /came while it was not open/],
  [
    "a delta after its attempt was discarded",
    [start, { type: "attempt_discarded", seq: 4, k: 0 }, delta(1, "Hello")],
    /came while it was not open/,
  ],
  ["an end of an answer of which its reader has a part", [start, delta(1, "Hello"), end], /P3: .* had 5 of 11 characters/],
  ["a snapshot that is not all of the answer", [start, delta(1, "Hel"), cut, snapshot(2, "Hello"), end], /P3: .* had 5 of 11 characters/],
  ["an answer that was cut and is not delivered whole", [start, delta(1, "Hello"), cut, end], /P3: .* had 5 of 11 characters/],
  ["words that were never committed", [start, delta(1, "Good bye"), end], /sent what was not committed/],
])("finds %s", (_, frames, flaw) => {
  expect(record(frames).flaws.join("\n")).toMatch(flaw);
});

it("compares what was seen with the log, event by event", () => {
  const log = [start, end] as unknown as readonly DurableEvent[];
  expect(checkRecording(record([start, end]), log)).toEqual([]);
  expect(checkRecording(record([start]), log).join()).toMatch(/has 1 events and the log has 2/);
  expect(checkRecording(record([{ ...start, role: "user" }, end]), log).join()).toMatch(/event 0 differs/);
});
