import { describe, expect, it } from "vitest";
import { createAgent, createSession, execute, type Fact, type ModelChunk } from "../src/index.ts";
import { memoryStore } from "../src/memory/index.ts";
import { type ManualClock, manualClock } from "../src/memory/manual-clock.ts";
import { seededIds } from "../src/memory/seeded-ids.ts";
import type { ModelProvider } from "../src/ports/index.ts";
import { calm } from "./harness.ts";

/** What a vendor states at which second, for ever the last of it. */
interface Hang {
  readonly first: readonly (readonly ModelChunk[])[];
  readonly every?: { readonly ms: number; readonly prints: readonly ModelChunk[] };
}

const text = (delta: string): ModelChunk => ({ type: "text", index: 0, delta });
const whole: readonly ModelChunk[] = [text("whole"), { type: "end", stopReason: "stop" }];

/** A vendor that hangs at its first call and answers the second. `closedAtMs`: when the first connection was closed. */
function hanging(clock: ManualClock, { first, every }: Hang) {
  const world = { calls: 0, closedAtMs: undefined as number | undefined };
  const provider: ModelProvider = {
    name: "hanging",
    defaultModel: "hanging-1",
    capabilities: () => ({ streaming: true, tools: true, vision: false, promptCaching: false }),
    async *stream(_, { signal }) {
      if (++world.calls > 1) return yield whole;
      const begunAt = clock.monotonic();
      signal.addEventListener("abort", () => {
        world.closedAtMs = clock.monotonic() - begunAt;
      });
      yield* first;
      for (;;) {
        await new Promise<void>((resolve, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason));
          if (every) clock.after(every.ms, resolve);
        });
        yield every?.prints ?? [];
      }
    },
  };
  return { provider, world };
}

async function outlast(hang: Hang) {
  const clock = manualClock();
  const { provider, world } = hanging(clock, hang);
  const store = memoryStore({ clock });
  const session = createSession({ agent: createAgent({ name: "a", provider }), id: "s", clock, store, ids: seededIds(3) });
  const running = execute(session, "x").result();
  // Awake as a process is: a longer step would look like a pause of it.
  for (let passedMs = 0; world.closedAtMs === undefined && passedMs < 1_000_000; passedMs += 2_500) {
    await calm();
    clock.advance(2_500);
  }
  await calm();
  clock.advance(2_500);
  const result = await running;
  const facts = await store.log.read({ scope: "local", session: "s" });
  return { result, facts, closedAtMs: world.closedAtMs, calls: world.calls, timers: clock.pending };
}

const failures = (facts: readonly Fact[]) => facts.flatMap((fact) => (fact.type === "model.failed" ? [fact.failure] : []));

const minute = 60_000;
const hangs: readonly (readonly [string, Hang, number, string])[] = [
  ["sends no headers", { first: [] }, minute, "sent nothing for 60000 ms"],
  ["sends its headers and then nothing", { first: [[{ type: "alive" }]] }, minute, "fell silent for 60000 ms"],
  ["falls silent in the middle of its text", { first: [[text("half")]] }, minute, "fell silent for 60000 ms"],
  ["sends pings alone", { first: [], every: { ms: 15_000, prints: [{ type: "alive" }] } }, 5 * minute, "sent only pings for 300000 ms"],
  [
    "sends pings alone after some text",
    { first: [[text("half")]], every: { ms: 15_000, prints: [{ type: "alive" }] } },
    5 * minute,
    "sent only pings for 300000 ms",
  ],
  ["sends empty deltas for ever", { first: [], every: { ms: 10_000, prints: [text("")] } }, 5 * minute, "sent only pings for 300000 ms"],
  [
    "counts its usage for ever",
    { first: [], every: { ms: 10_000, prints: [{ type: "usage", usage: { input: 1 } }] } },
    5 * minute,
    "only pings",
  ],
  [
    "sends a token every 50 seconds for ever",
    { first: [], every: { ms: 50_000, prints: [text("a ")] } },
    15 * minute,
    "not complete after 900000 ms",
  ],
  ["sends a token a minute", { first: [], every: { ms: minute + 1, prints: [text("a ")] } }, minute, "sent nothing for 60000 ms"],
];

describe("F3: a vendor that", () => {
  it.each(hangs)("%s is left in time, and the next attempt answers", async (_, hang, ms, why) => {
    const { result, facts, closedAtMs, calls, timers } = await outlast(hang);
    expect(closedAtMs).toBe(ms);
    expect(failures(facts)).toEqual([
      expect.objectContaining({ code: "MODEL_TIMEOUT", message: expect.stringContaining(why), retryable: true }),
    ]);
    expect([result.status, result.text, calls]).toEqual(["completed", "whole", 2]);
    expect(JSON.stringify(result.messages)).not.toContain("half");
    expect(timers).toBeLessThanOrEqual(1);
  });

  it("sends endless empty deltas without a pause is given up after five minutes, with no text", async () => {
    const clock = manualClock();
    let batches = 0;
    const provider: ModelProvider = {
      name: "flood",
      defaultModel: "flood-1",
      capabilities: () => ({ streaming: true, tools: false, vision: false, promptCaching: false }),
      async *stream(_, { signal }) {
        while (!signal.aborted) {
          yield [text("")];
          if (++batches % 50 === 0) await new Promise<void>((resolve) => clock.after(1_000, resolve));
        }
      },
    };
    const agent = createAgent({ name: "a", provider, limits: { attemptsMax: 1 } });
    const session = createSession({ agent, clock, store: memoryStore({ clock }), ids: seededIds(4) });
    const running = execute(session, "x").result();
    for (let second = 0; second < 302; second++) {
      await calm();
      clock.advance(1_000);
    }
    const { error, text: written } = await running;
    expect([error?.code, written]).toEqual(["MODEL_TIMEOUT", ""]);
    expect(batches).toBeGreaterThan(10_000);
  });
});
