import type { Fact, FactBody } from "@loopwright/core";
import { expect, it } from "vitest";
import type { Testimony } from "../world/testimony.ts";
import { type CommandEvidence, checkCommands } from "./check-commands.ts";

const runId = "r1";
const callKey = "r1.1.0";
const decided = (decision: "allow" | "deny"): FactBody => ({ type: "approval.decided", runId, callKey, decision });
const asked: FactBody = { type: "approval.requested", runId, callKey, argsDigest: "d" };
const intent: FactBody = { type: "tool.started", runId, callKey, attempt: 1, argsDigest: "d", replay: "once", idempotencyKey: callKey };
const result = (outcome: "ok" | "denied"): FactBody => ({ type: "tool.finished", runId, callKey, outcome, output: [] });
const abort: FactBody = { type: "abort.requested", runId, reason: "stop-1" };
const begun = {
  type: "run.started",
  runId,
  agent: "chaos",
  agentDigest: "d",
  provider: "openai",
  model: "chaos",
  tools: {},
  limits: { turnsMax: 1 },
} as unknown as FactBody;
const ended = (status: "completed" | "aborted"): FactBody => ({ type: "run.finished", runId, status, reason: "" });
const sound: readonly FactBody[] = [begun, asked, decided("allow"), intent, result("ok"), ended("completed")];
const seen: Testimony = { phase: "start", tool: "sign", session: "s", callKey, attempt: 1, node: "n" };

const numbered = (bodies: readonly FactBody[]): readonly Fact[] =>
  bodies.map((body, index) => ({ ...body, seq: index + 1, at: 1, v: 1, epoch: 1 }));

function flawsOf(bodies: readonly FactBody[], changes: Partial<CommandEvidence> = {}): readonly string[] {
  return checkCommands({ facts: numbered(bodies), acknowledged: [], testimonies: [seen], ...changes });
}

it("finds nothing wrong when the reported outcome is what happened", () => {
  const decision = { what: "decision", key: "d1", callKeys: [callKey], decision: "allow" } as const;
  expect(flawsOf(sound, { acknowledged: [decision] })).toEqual([]);
  const denied = [begun, asked, decided("deny"), result("denied"), abort, ended("aborted")];
  const written = [{ ...decision, decision: "deny" } as const, { what: "abort", key: "stop-1" } as const];
  expect(flawsOf(denied, { acknowledged: written, testimonies: [] })).toEqual([]);
});

it.each<[string, readonly FactBody[], Partial<CommandEvidence>, RegExp]>([
  [
    "an acknowledged abort that is not there",
    sound,
    { acknowledged: [{ what: "abort", key: "stop-2", runId }] },
    /I1: the abort stop-2 of r1/,
  ],
  [
    "an abort of the open run that is not there",
    sound,
    { acknowledged: [{ what: "abort", key: "stop-2" }] },
    /I1: the abort stop-2 of the open run/,
  ],
  [
    "a run that was completed after it was to be stopped",
    [...sound.slice(0, 5), abort, ended("completed")],
    {},
    /I8: the run r1 was completed at 7/,
  ],
  [
    "an acknowledged decision that is not there",
    sound,
    { acknowledged: [{ what: "decision", key: "d2", callKeys: ["r1.9.9"], decision: "allow" }] },
    /I1: the decision d2 on r1\.9\.9/,
  ],
  [
    "a decision that became its contrary",
    sound,
    { acknowledged: [{ what: "decision", key: "d1", callKeys: [callKey], decision: "deny" }] },
    /was deny and the log has allow/,
  ],
  ["a call that was decided twice", [...sound.slice(0, 3), decided("deny"), ...sound.slice(3)], {}, /was decided 2 times/],
  [
    "a call that was begun before it was allowed",
    [begun, asked, intent, decided("allow"), result("ok"), ended("completed")],
    {},
    /begun at 3 without leave/,
  ],
  [
    "a call that was begun after it was denied",
    [begun, asked, decided("deny"), intent, result("ok"), ended("completed")],
    {},
    /begun at 4 without leave/,
  ],
  [
    "a tool that was started after it was denied",
    [begun, asked, decided("deny"), result("denied"), ended("completed")],
    {},
    /the tool of r1\.1\.0 was started without leave/,
  ],
  [
    "a gated call without a result",
    [begun, asked, decided("deny"), ended("completed")],
    { testimonies: [] },
    /I4: the call r1\.1\.0 waited for approval and has 0 results/,
  ],
  ["a run without an end", sound.slice(0, 5), {}, /I8: the run r1 ended 0 times/],
  ["a run with two ends", [...sound, ended("aborted")], {}, /I8: the run r1 ended 2 times/],
])("finds %s", (_, bodies, changes, flaw) => {
  expect(flawsOf(bodies, changes).join("\n")).toMatch(flaw);
});
