import type { Fact, FactBody } from "@loopwright/core";
import { expect, it } from "vitest";
import { textOfJob } from "../world/job.ts";
import { checkModelCalls } from "./check-model-calls.ts";

const input = (job: string, runId: string, mode: "enqueue" | "steer" = "enqueue"): FactBody => ({
  type: "input.accepted",
  inputId: `i-${job}`,
  runId,
  mode,
  message: { role: "user", content: textOfJob({ id: job, turns: [{ words: 1, gapMs: 0 }] }) },
});
const call = (runId: string, attempt = 1): FactBody => ({
  type: "model.started",
  runId,
  turn: 1,
  attempt,
  provider: "openai",
  model: "chaos",
  requestDigest: "d",
});
const flawsOf = (bodies: readonly FactBody[], requests: { readonly [job: string]: number }): readonly string[] =>
  checkModelCalls(
    bodies.map((body, index): Fact => ({ ...body, seq: index + 1, at: 1, v: 1 })),
    requests,
  );

it("takes as many requests as the log knows of, and fewer, since a node may die before it asks", () => {
  expect(flawsOf([input("a", "r1"), call("r1"), call("r1", 2)], { a: 2 })).toEqual([]);
  expect(flawsOf([input("a", "r1"), call("r1"), call("r1", 2)], { a: 1 })).toEqual([]);
});

it("takes a steered job in the run that it joined, and in one of its own", () => {
  expect(flawsOf([input("a", "r1"), call("r1"), input("b", "r1", "steer"), call("r1")], { a: 1, b: 1 })).toEqual([]);
  expect(flawsOf([input("a", "r1"), call("r1"), input("b", "r1", "steer"), call("i-b")], { a: 1, b: 1 })).toEqual([]);
});

it("takes a job that a run repeats when it reads the report of a child, in that run alone", () => {
  const report: FactBody = {
    ...input("x", "r2"),
    message: { role: "user", content: "Done." },
    origin: { type: "session", session: "c" },
  } as FactBody;
  expect(flawsOf([input("a", "r1"), call("r1"), report, call("r2")], { a: 2 })).toEqual([]);
  expect(flawsOf([input("a", "r1"), call("r1"), report], { a: 2 })).toHaveLength(2);
});

it.each<[string, readonly FactBody[], { readonly [job: string]: number }, RegExp]>([
  [
    "a request that the log does not know of",
    [input("a", "r1"), call("r1")],
    { a: 2 },
    /I7: the model was asked 2 times for a and the log knows of 1/,
  ],
  ["one that another run has to answer for", [input("a", "r1"), input("b", "r2"), call("r1"), call("r1", 2)], { b: 1 }, /1 times for b/],
  [
    "requests of two jobs for one call",
    [input("a", "r1"), call("r1"), input("b", "r1", "steer")],
    { a: 1, b: 1 },
    /I7: the model was asked 2 times and the log knows of 1/,
  ],
])("finds %s", (_, bodies, requests, flaw) => {
  expect(flawsOf(bodies, requests).join("\n")).toMatch(flaw);
});
