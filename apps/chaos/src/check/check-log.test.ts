import type { Fact, FactBody } from "@loopwright/core";
import { expect, it } from "vitest";
import { type Job, textOfJob, wordsOf } from "../world/job.ts";
import type { Acknowledged } from "../world/people/acknowledged.ts";
import type { Testimony } from "../world/testimony.ts";
import { checkLog, type Evidence } from "./check-log.ts";

const job: Job = {
  id: "j1",
  turns: [
    { words: 3, gapMs: 0, calls: [{ tool: "pay", ms: 1 }] },
    { words: 2, gapMs: 0 },
  ],
};
const runId = "r1";
const callKey = "r1.1.0";
const usual = { provider: "openai", model: "chaos" };

function answer(turn: number, text = wordsOf(job, turn).join("")): FactBody {
  const message = { role: "assistant", content: [{ type: "text", text }], stopReason: "stop", ...usual } as const;
  return { type: "model.finished", runId, turn: turn + 1, attempt: 1, message, stopReason: "stop", calls: [], timings: { totalMs: 1 } };
}

const input: FactBody = {
  type: "input.accepted",
  inputId: "i1",
  runId,
  mode: "enqueue",
  message: { role: "user", content: textOfJob(job) },
  idempotencyKey: "k1",
};
const intent: FactBody = { type: "tool.started", runId, callKey, attempt: 1, argsDigest: "d", replay: "once", idempotencyKey: callKey };
const ended = (outcome: "ok" | "error" | "interrupted"): FactBody => ({ type: "tool.finished", runId, callKey, outcome, output: [] });

const sound: readonly FactBody[] = [input, answer(0), intent, ended("ok"), answer(1)];
const seen = (phase: Testimony["phase"]): Testimony => ({ phase, tool: "pay", session: "s", callKey, attempt: 1, node: "n" });
const acknowledged: readonly Acknowledged[] = [{ what: "input", key: "k1", job }];

const numbered = (bodies: readonly FactBody[]): readonly Fact[] =>
  bodies.map((body, index) => ({ ...body, seq: index + 1, at: 1, v: 1, epoch: 1 }));

function flawsOf(changes: Partial<Evidence>): readonly string[] {
  return checkLog({ session: "s", facts: numbered(sound), acknowledged, testimonies: [seen("start"), seen("end")], ...changes }).flaws;
}

it("finds nothing wrong in a log that keeps its promises", () => {
  expect(flawsOf({})).toEqual([]);
});

it("asks no witness about a call that a child answers", () => {
  const link: FactBody = { type: "child.linked", runId, callKey, session: "c", agent: "middle", key: "agent" };
  const [first, second, begun, end, last] = sound as readonly [FactBody, FactBody, FactBody, FactBody, FactBody];
  expect(flawsOf({ facts: numbered([first, second, begun, link, end, last]), testimonies: [] })).toEqual([]);
  expect(flawsOf({ testimonies: [] })).toEqual([
    expect.stringMatching(/I5: the log records that r1\.1\.0 is done, and no tool recorded its end/),
  ]);
});

it.each<[string, Partial<Evidence>, RegExp]>([
  ["a gap in the numbers", { facts: numbered(sound).map((fact) => (fact.seq > 2 ? { ...fact, seq: fact.seq + 1 } : fact)) }, /I2: place 3/],
  [
    "an acknowledged input that is not there",
    { acknowledged: [...acknowledged, { what: "input", key: "k2" }] },
    /I1: the input k2 was acknowledged/,
  ],
  ["an input that is there twice", { facts: numbered([input, ...sound]) }, /I1: the input k1 is in the log 2 times/],
  [
    "an acknowledged answer that is not there",
    { acknowledged: [...acknowledged, { what: "answer", key: "a", callKeys: ["r1.1.9"] }] },
    /I1: the answer of r1\.1\.9/,
  ],
  [
    "an owner that writes after it was fenced",
    { facts: numbered(sound).map((fact) => ({ ...fact, epoch: fact.seq === 3 ? 2 : 1 })) },
    /I9: fact 4 was written under epoch 1 after 2/,
  ],
  [
    "half an answer that was committed",
    { facts: numbered([input, answer(0, wordsOf(job, 0).slice(0, 2).join("")), intent, ended("ok"), answer(1)]) },
    /I3: the answer at 2/,
  ],
  [
    "two answers mixed into one",
    { facts: numbered([...sound.slice(0, 4), answer(1, `${wordsOf(job, 1).join("")}${wordsOf(job, 0).join("")}`)]) },
    /I3: the answer at 5/,
  ],
  ["a call without a result", { facts: numbered([input, answer(0), intent]) }, /I4: the call r1\.1\.0 has 0 results/],
  ["a call with two results", { facts: numbered([...sound, ended("ok")]) }, /I4: the call r1\.1\.0 has 2 results/],
  [
    "a side effect that happened twice",
    { testimonies: [seen("start"), seen("start"), seen("end")] },
    /I5: the tool of r1\.1\.0 runs once and was started 2 times/,
  ],
  ["a success without a witness", { testimonies: [seen("start")] }, /I5: the log records that r1\.1\.0 is done/],
  [
    "a doubt that is reported as a failure",
    { facts: numbered([input, answer(0), intent, ended("error"), answer(1)]), testimonies: [seen("start")] },
    /in doubt and is reported as error/,
  ],
  [
    "a side effect without an intent",
    { facts: numbered([input, answer(0), answer(1)]) },
    /I5: the tool of r1\.1\.0 was started without an intent/,
  ],
])("finds %s", (_, changes, flaw) => {
  expect(flawsOf(changes).join("\n")).toMatch(flaw);
});

it("counts a call in doubt that is reported as interrupted", () => {
  const facts = numbered([input, answer(0), intent, ended("interrupted"), answer(1)]);
  const verdict = checkLog({ session: "s", facts, acknowledged, testimonies: [seen("start")] });
  expect([verdict.flaws, verdict.inDoubt, verdict.inDoubtReported]).toEqual([[], 1, 1]);
});
