import type { SessionEvent } from "@loopwright/core/protocol";
import { expect, it } from "vitest";
import { channelLimits } from "./channel-limits.ts";
import { encodeFrame, readFrame } from "./frame.ts";
import { createOutbox, type Outbox } from "./outbox.ts";

const ref = { scope: "local", session: "first" };
const delta = (n: number, text = "word"): SessionEvent => ({ type: "text_delta", lane: 5, n, index: 0, delta: text });
const fact = (seq: number, reason = "x"): SessionEvent => ({ type: "aborting", reason, seq, k: 0, at: 1, sessionId: "first" });

/** What a listener would receive, as text. */
function notified(outbox: Outbox): readonly string[] {
  const words: string[] = [];
  for (const { lines } of outbox.take())
    readFrame(encodeFrame({ node: "n", id: 1, previous: 0, lines }), {
      wants: () => true,
      events: (session, events) =>
        void words.push(`${session} ${events.map((event) => ("n" in event ? event.n : `#${event.seq}`)).join(" ")}`),
      notification: ({ type }) => void words.push(type),
      missed: (session) => void words.push(`missed ${session}`),
    });
  return words;
}

it("joins what waits of a session, between two notifications", () => {
  const outbox = createOutbox({ limitBytes: 10_000, onDrop: () => {} });
  expect(outbox.isEmpty).toBe(true);
  outbox.publish(ref, [delta(1), fact(9)]);
  outbox.publish({ ...ref, session: "second" }, [delta(1)]);
  outbox.publish(ref, [delta(2)]);
  outbox.notify("local", { type: "refresh" });
  outbox.publish(ref, [delta(3)]);
  expect(notified(outbox)).toEqual(["first 1 #9 2", "second 1", "refresh", "first 3"]);
  expect(outbox.isEmpty).toBe(true);
});

it("encodes a further delta of a lane in little more than its text", () => {
  const outbox = createOutbox({ limitBytes: 1_000_000, onDrop: () => {} });
  for (let n = 1; n <= 1_000; n++) outbox.publish(ref, [delta(n)]);
  const [batch] = outbox.take();
  expect(encodeFrame({ node: "n", id: 1, previous: 0, lines: batch?.lines ?? [] }).length).toBeLessThan(1_000 * 7 + 200);
});

it("drops deltas of all sessions before the hint of a fact, and names the sessions", () => {
  let drops = 0;
  const outbox = createOutbox({ limitBytes: 2_500, onDrop: () => void drops++ });
  outbox.publish(ref, [fact(1), delta(1, "x".repeat(900))]);
  outbox.publish({ ...ref, session: "second" }, [delta(1, "x".repeat(900))]);
  expect(drops).toBe(0);
  outbox.publish({ ...ref, session: "third" }, [fact(2)]);
  outbox.publish(ref, [delta(2, "x".repeat(900))]);
  expect(drops).toBe(1);
  expect(notified(outbox)).toEqual(["missed first", "missed second", "first #1", "third #2"]);
});

it("drops the hints of facts too when they alone are too much, and continues with later ones", () => {
  const outbox = createOutbox({ limitBytes: 2_000, onDrop: () => {} });
  for (let seq = 1; seq <= 20; seq++) outbox.publish(ref, [fact(seq, "x".repeat(100))]);
  const words = notified(outbox);
  expect(words[0]).toBe("missed first");
  expect(words.join(" ")).toContain("#20");
  expect(words.join(" ")).not.toContain("#1 ");
});

it("never holds more than its limit, whatever comes", () => {
  const outbox = createOutbox({ limitBytes: 50_000, onDrop: () => {} });
  for (let n = 1; n <= 20_000; n++) outbox.publish({ ...ref, session: `s${n % 100}` }, [n % 10 === 0 ? fact(n) : delta(n)]);
  const size = outbox.take().map(({ lines }) => encodeFrame({ node: "n", id: 1, previous: 0, lines }).length);
  expect(size.reduce((sum, one) => sum + one, 0)).toBeLessThan(60_000);
});

it("marks all sessions as incomplete when very many are", () => {
  const outbox = createOutbox({ limitBytes: 100_000, onDrop: () => {} });
  for (let n = 0; n <= channelLimits.missedSessions; n++) outbox.publish({ ...ref, session: `s${n}` }, [delta(1)]);
  outbox.publish(ref, [delta(1, "x".repeat(100_000))]);
  expect(notified(outbox)).toEqual(["missed null"]);
});
