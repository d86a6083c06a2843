import type { SessionEvent } from "@loopwright/core/protocol";
import { expect, it } from "vitest";
import { channelLimits } from "./channel-limits.ts";
import { type Command, createLaneRings, readRing } from "./lane-rings.ts";
import { addEvent, type Piece } from "./pieces.ts";

const ref = { scope: "local", session: "first" };
const delta = (n: number, text = `${n} `): SessionEvent => ({ type: "text_delta", lane: 5, n, index: 0, delta: text });

function piecesOf(...events: readonly SessionEvent[]): readonly Piece[] {
  const pieces: Piece[] = [];
  for (const event of events) addEvent(pieces, event);
  return pieces;
}

/** What Redis would hold after these commands. */
function strings() {
  const held = new Map<string, Buffer>();
  return {
    held,
    run(commands: readonly Command[]) {
      for (const [name, key = "", ...rest] of commands) {
        if (name === "SET") held.set(key, Buffer.from(rest[0] ?? ""));
        if (name !== "SETRANGE") continue;
        const [offset, text] = [Number(rest[0]), Buffer.from(rest[1] ?? "")];
        const before = held.get(key) ?? Buffer.alloc(0);
        const after = Buffer.alloc(Math.max(before.length, offset + text.length));
        before.copy(after);
        text.copy(after, offset);
        held.set(key, after);
      }
    },
    read: () => readRing([0, 1].map((half) => held.get(`p:lane:{local.first}:5:${half}`)?.toString() ?? null)).map(({ n }) => n),
  };
}

it("costs what is new, however long the lane is", () => {
  const rings = createLaneRings({ prefix: "p" });
  const sizes = Array.from({ length: 3_000 }, (_, index) => JSON.stringify(rings.write(ref, piecesOf(delta(index + 1, "word")), 0)).length);
  expect(Math.max(...sizes.slice(1))).toBeLessThan(150);
});

it("changes nothing when a write is sent twice", () => {
  const [rings, redis] = [createLaneRings({ prefix: "p" }), strings()];
  for (let n = 1; n <= 50; n++) {
    const commands = rings.write(ref, piecesOf(delta(n, "é😀")), 0);
    redis.run(commands);
    redis.run(commands);
  }
  expect(redis.read()).toEqual(Array.from({ length: 50 }, (_, index) => index + 1));
});

it("keeps at least the last half of a long lane, in two strings that never exceed the limit", () => {
  const [rings, redis] = [createLaneRings({ prefix: "p" }), strings()];
  const text = "x".repeat(12_000);
  for (let n = 1; n <= 500; n++) redis.run(rings.write(ref, piecesOf(delta(n, text)), 0));
  const sizes = [...redis.held.values()].map(({ length }) => length);
  expect(sizes).toHaveLength(2);
  for (const size of sizes) expect(size).toBeLessThanOrEqual(channelLimits.ringBytes / 2);
  const numbers = redis.read();
  expect(numbers.at(-1)).toBe(500);
  expect(numbers.length * 12_000).toBeGreaterThan(channelLimits.ringBytes / 2 - 40_000);
  expect(numbers).toEqual(numbers.map((_, index) => 500 - numbers.length + 1 + index));
});

it("writes much at once in parts, and leaves out what is larger than a half", () => {
  const [rings, redis] = [createLaneRings({ prefix: "p" }), strings()];
  redis.run(rings.write(ref, piecesOf(...Array.from({ length: 500 }, (_, index) => delta(index + 1, "x".repeat(3_000)))), 0));
  expect(redis.read().at(-1)).toBe(500);
  const large = { type: "text_end", lane: 5, n: 501, index: 0, text: "x".repeat(channelLimits.ringBytes) } as const;
  redis.run(rings.write(ref, piecesOf(large, delta(502), delta(503)), 0));
  expect(redis.read().slice(-3)).toEqual([500, 502, 503]);
});

it("begins a lane anew that it has forgotten: one of very many, or silent for longer than rings are kept", () => {
  const rings = createLaneRings({ prefix: "p" });
  const isNew = (commands: readonly Command[]): boolean => commands[0]?.[0] === "SET";
  const of = (lane: number, now: number): boolean => isNew(rings.write(ref, piecesOf({ type: "text_start", lane, n: 1, index: 0 }), now));
  expect(of(1, 0)).toBe(true);
  expect(of(1, 1)).toBe(false);
  for (let lane = 2; lane <= channelLimits.lanes + 1; lane++) of(lane, 2);
  expect(of(1, 3)).toBe(true);
  expect(of(3, channelLimits.ringMs + 10)).toBe(true);
  expect(of(3, channelLimits.ringMs + 11)).toBe(false);
});

it("reads what can be read of a ring that was written over or lost in part", () => {
  expect(readRing([null, null])).toEqual([]);
  expect(
    readRing([`\0\0["lost"]\n${JSON.stringify([delta(7)])}\n["8 "]\n{broken\n["lost too"]\n${JSON.stringify([delta(10)])}\n`, null]).map(
      ({ n }) => n,
    ),
  ).toEqual([7, 8, 10]);
  expect(readRing([JSON.stringify([delta(2), delta(3)]), JSON.stringify([delta(1), delta(2)])]).map(({ n }) => n)).toEqual([1, 2, 3]);
});
