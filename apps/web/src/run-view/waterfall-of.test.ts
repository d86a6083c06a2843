import type { DurableEvent } from "@loopwright/core/protocol";
import { expect, it } from "vitest";
import { scenes } from "../../test/harness/scenes.ts";
import { timeTicks } from "./time-ticks.ts";
import { waterfallOf } from "./waterfall-of.ts";

const events = scenes["run"]?.(0).events ?? [];

const barsOf = (some: readonly DurableEvent[]): readonly string[] =>
  (waterfallOf(some)?.bars ?? []).map(({ kind, label, startMs, endMs, state, attempt }) =>
    [kind, label, `${startMs}-${endMs ?? ""}`, state, ...(attempt === undefined ? [] : [`try ${attempt}`])].join(" "),
  );

it("a run becomes bars of its queue, turns, model calls, waits and tools, along its time", () => {
  expect(barsOf(events)).toEqual([
    "queue Waiting to start 0-120 ok",
    "turn Turn 1 130-6901 ok",
    "model sample-large-1 130-900 failed",
    "wait Waiting to try again 900-1905 ok",
    "model sample-large-1 1905-4100 ok try 2",
    "tool Search the web 4110-5800 ok",
    "tool Read a file 4112-4350 ok",
    "tool Run a command 4114-6900 failed",
    "turn Turn 2 6910-12401 ok",
    "model sample-large-1 6910-12400 ok",
  ]);
});

it("the whole has its time, its tokens, its cost and how it ended", () => {
  expect(waterfallOf(events)).toMatchObject({
    runId: "r1",
    model: "sample-large-1",
    totalMs: 12_405,
    status: "completed",
    usage: { input: 3940, output: 736 },
    cost: { totalUsd: 0.01442 },
  });
});

it("a model call has its time to first token and what it spent; a thrown away one why", () => {
  const [first, second] = waterfallOf(events)?.bars.filter(({ kind }) => kind === "model") ?? [];
  expect(first?.note).toBe("The vendor is overloaded: 529. (MODEL_OVERLOADED)");
  expect(second).toMatchObject({ firstTokenMs: 420, usage: { output: 96 }, cost: { totalUsd: 0.00312 } });
});

it("an open run has open bars, and reaches to its last event", () => {
  const half = events.slice(0, 12);
  expect(waterfallOf(half)).toMatchObject({ status: "open", totalMs: 4114 });
  expect(barsOf(half).filter((bar) => bar.includes(" open"))).toEqual([
    "turn Turn 1 130- open",
    "tool Search the web 4110- open",
    "tool Read a file 4112- open",
    "tool Run a command 4114- open",
  ]);
});

it("any beginning of a run has a waterfall whose bars lie within its time", () => {
  for (let length = 1; length <= events.length; length++) {
    const waterfall = waterfallOf(events.slice(0, length));
    for (const { startMs, endMs = startMs } of waterfall?.bars ?? []) {
      expect(startMs).toBeGreaterThanOrEqual(0);
      expect(endMs).toBeGreaterThanOrEqual(startMs);
      expect(endMs).toBeLessThanOrEqual(waterfall?.totalMs ?? -1);
    }
  }
});

const place = { k: 0, sessionId: "s", runId: "r" };

it("a client's call lasts from the question to its result", () => {
  const asked: readonly DurableEvent[] = [
    { ...place, seq: 1, at: 1000, type: "run_start", model: "m", provider: "p" },
    {
      ...place,
      seq: 2,
      at: 1500,
      type: "awaiting_tool_execution",
      toolCalls: [{ toolCallId: "c", callKey: "r.1.0", toolName: "pick", args: {} }],
    },
    {
      ...place,
      seq: 3,
      at: 9000,
      type: "message_end",
      messageId: "3",
      parent: "2",
      message: { role: "tool_result", toolCallId: "c", callKey: "r.1.0", content: "red" },
    },
  ];
  expect(barsOf(asked)).toEqual(["client pick 500-8000 ok"]);
});

it("a tool that is tried again after a crash has a bar for each try", () => {
  const start = { ...place, type: "tool_execution_start", toolCallId: "c", callKey: "r.1.0", toolName: "read", args: {} } as const;
  const tried: readonly DurableEvent[] = [
    { ...start, seq: 1, at: 0, attempt: 1 },
    { ...start, seq: 2, at: 700, attempt: 2 },
  ];
  expect(barsOf(tried)).toEqual(["tool read 0-700 failed", "tool read 700- open try 2"]);
});

it("a stop and a limit are moments; a failure ends what is open", () => {
  const stopped: readonly DurableEvent[] = [
    { ...place, seq: 1, at: 0, type: "run_start", model: "m", provider: "p" },
    { ...place, seq: 2, at: 10, type: "turn_start", turn: 1 },
    { ...place, seq: 3, at: 10, type: "message_start", role: "assistant" },
    { ...place, seq: 4, at: 400, type: "limit_reached", which: "turns", value: 1 },
    { ...place, seq: 5, at: 500, type: "aborting", reason: "user" },
    { ...place, seq: 6, at: 600, type: "error", reason: "aborted", code: "RUN_ABORTED", error: "The run was stopped: user." },
    { ...place, seq: 6, k: 1, at: 600, type: "run_end", status: "aborted", reason: "user" },
  ];
  expect(waterfallOf(stopped)?.marks.map(({ atMs, label }) => `${atMs} ${label}`)).toEqual([
    "400 Limit reached: 1 turns",
    "500 Stopping: user",
  ]);
  expect(barsOf(stopped)).toEqual(["turn Turn 1 10-600 aborted", "model m 10-600 aborted"]);
  expect(waterfallOf(stopped)?.error).toEqual({ code: "RUN_ABORTED", message: "The run was stopped: user." });
});

it("a run that begins at once waited for nothing", () => {
  const begun: readonly DurableEvent[] = [
    { ...place, seq: 1, at: 5, type: "input_accepted", inputId: "i", mode: "enqueue" },
    { ...place, seq: 2, at: 5, type: "run_start", model: "m", provider: "p" },
  ];
  expect(barsOf(begun)).toEqual([]);
});

it("nothing is known of a run without events", () => {
  expect(waterfallOf([])).toBeUndefined();
});

it("the moments along a time are round and few", () => {
  expect(timeTicks(12_405)).toEqual([0, 5000, 10_000]);
  expect(timeTicks(900)).toEqual([0, 500]);
  expect(timeTicks(0)).toEqual([0]);
  for (const totalMs of [1, 7, 99, 1234, 60_000, 3_600_000, 1e12]) expect(timeTicks(totalMs).length).toBeLessThanOrEqual(5);
});

it("a call whose answer was replaced has not failed", () => {
  const thrownAway = (code: string) =>
    events.map((event) => (event.type === "attempt_discarded" ? ({ ...event, code, willRetry: false } as DurableEvent) : event));
  const stateOf = (code: string): string | undefined => waterfallOf(thrownAway(code))?.bars.find(({ kind }) => kind === "model")?.state;
  expect([stateOf("ANSWER_WITHDRAWN"), stateOf("MODEL_OVERLOADED")]).toEqual(["ok", "failed"]);
});
