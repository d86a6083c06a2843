import type { Fact, FactBody } from "@loopwright/core";
import { expect, it } from "vitest";
import { checkSchedules, countFirings } from "./check-schedules.ts";

type Dated = readonly [at: number, body: FactBody];

const set = (due: number, everyMs?: number): FactBody => ({
  type: "schedule.set",
  schedule: "daily",
  due,
  input: { message: { role: "user", content: "Report." } },
  ...(everyMs === undefined ? {} : { everyMs }),
});
const fired = (due: number, idempotencyKey = `daily.${due}`): FactBody => ({
  ...{ type: "input.accepted", inputId: `i${due}`, runId: `r${due}`, mode: "enqueue", idempotencyKey },
  message: { role: "user", content: "Report." },
  origin: { type: "schedule", schedule: "daily", due },
});
const cleared: FactBody = { type: "schedule.cleared", schedule: "daily" };

const flawsOf = (facts: readonly Dated[]): readonly string[] =>
  checkSchedules(facts.map(([at, body], index): Fact => ({ ...body, seq: index + 1, at, v: 1, epoch: 1 })));

it("takes firings at their dates: once, or again after each interval, and one for all dates that were missed", () => {
  expect(
    flawsOf([
      [0, set(100)],
      [105, fired(100)],
    ]),
  ).toEqual([]);
  expect(
    flawsOf([
      [0, set(100, 50)],
      [100, fired(100)],
      [272, fired(150)],
      [300, fired(300)],
    ]),
  ).toEqual([]);
  expect(
    flawsOf([
      [0, set(100)],
      [50, set(200)],
      [200, fired(200)],
      [210, set(300)],
      [300, fired(300)],
    ]),
  ).toEqual([]);
});

it.each<[string, readonly Dated[], RegExp]>([
  [
    "a firing before its date",
    [
      [0, set(100)],
      [90, fired(100)],
    ],
    /I17: the schedule daily fired at 2, 10 ms too early/,
  ],
  ["a firing of what was not set", [[100, fired(100)]], /I17: the schedule daily fired at 1 and was not set/],
  [
    "a firing after it was cleared",
    [
      [0, set(100)],
      [10, cleared],
      [100, fired(100)],
    ],
    /I17: the schedule daily fired at 3 and was not set, or cleared/,
  ],
  [
    "a second firing of one date",
    [
      [0, set(100)],
      [100, fired(100)],
      [101, fired(100)],
    ],
    /fired at 3 and was not set, or cleared, or fired before/,
  ],
  [
    "a second firing of one date of a schedule that repeats",
    [
      [0, set(100, 50)],
      [100, fired(100)],
      [101, fired(100)],
    ],
    /fired at 3 for 100 and was due at 150/,
  ],
  [
    "a firing for a date that was changed",
    [
      [0, set(100)],
      [10, set(200)],
      [200, fired(100)],
    ],
    /fired at 3 for 100 and was due at 200/,
  ],
  [
    "a firing for each date that was missed",
    [
      [0, set(100, 50)],
      [210, fired(100)],
      [211, fired(150)],
    ],
    /fired at 3 for 150 and was due at 250/,
  ],
  [
    "a firing under another key",
    [
      [0, set(100)],
      [100, fired(100, "daily.99")],
    ],
    /I17: the schedule daily fired at 2 under the key daily.99/,
  ],
])("finds %s", (_, facts, flaw) => {
  expect(flawsOf(facts).join("\n")).toMatch(flaw);
});

const countsOf = (facts: readonly Dated[]): ReturnType<typeof countFirings> =>
  countFirings(facts.map(([at, body], index): Fact => ({ ...body, seq: index + 1, at, v: 1, epoch: 1 })));

it("counts due times: those that fired, those that had passed by then, and the runs that were completed", () => {
  const counts = countsOf([
    [0, set(100, 50)],
    [103, fired(100)],
    [110, { type: "run.finished", runId: "r100", status: "completed", reason: "answered" }],
    [260, fired(150)],
    [300, fired(300)],
  ]);
  expect(counts).toEqual({ firings: 3, doubled: 0, passed: 2, completed: 1, lateMs: [3, 110, 0], flaws: [] });
});

it("finds a due time that fired twice, one that never did, and a firing of none", () => {
  const facts: readonly Dated[] = [
    [0, set(100, 50)],
    [100, fired(100)],
    [101, fired(100, "daily.100.b")],
    [200, fired(200)],
    [230, fired(230)],
  ];
  expect(countsOf(facts)).toMatchObject({ firings: 4, doubled: 1 });
  expect(countsOf(facts).flaws).toEqual([
    "I17: the schedule daily was due at 150 and did not fire",
    "I17: the schedule daily fired 2 times for 100",
    "I17: the schedule daily fired for 230, which is none of its dates",
  ]);
});
