import type { Fact, FactBody } from "@loopwright/core";
import { projectSession, searchTextsOf } from "@loopwright/core/stores";
import { expect, it } from "vitest";
import { sampleBody as body } from "../../src/samples/sample-conversation.ts";

const facts: readonly Fact[] = (
  [
    body.opened({
      context: [
        { role: "user", content: "Seeded" },
        { role: "notice", text: "n" },
      ],
    }),
    body.input("Hello"),
    body.runStarted,
    body.modelStarted,
    body.answer("I ask.", { usage: { input: 1, output: 1 } }),
    body.toolStarted("c1"),
    { type: "approval.requested", runId: "r1", callKey: "c2", argsDigest: "d" },
    body.toolFinished("c1", "done"),
    { type: "approval.decided", runId: "r1", callKey: "c2", decision: "allow" },
    body.runFinished,
    body.titled("Named"),
  ] satisfies readonly FactBody[]
).map((each, at) => ({ ...each, seq: at + 1, at: at * 10, v: 1 }));

it("folding in any pieces, also through JSON, gives what folding at once gives", () => {
  const whole = projectSession("s", undefined, facts);
  for (let cut = 0; cut <= facts.length; cut++) {
    const before = projectSession("s", undefined, facts.slice(0, cut));
    const stored = before && JSON.parse(JSON.stringify(before));
    expect(projectSession("s", stored, facts.slice(cut))).toEqual(whole);
  }
});

it("facts that were seen before change nothing", () => {
  const whole = projectSession("s", undefined, facts);
  expect(projectSession("s", whole, facts)).toEqual(whole);
});

it("an undecided approval makes a session wait", () => {
  const statuses = facts.map((_, at) => projectSession("s", undefined, facts.slice(0, at + 1))?.summary.status);
  expect(statuses).toEqual(["idle", "idle", "running", "running", "running", "running", "running", "waiting", "running", "idle", "idle"]);
});

it("approvals are counted while other calls run, those of a child until they are decided or the child ends", () => {
  const child = { session: "c", callKey: "c1" };
  const waits = ["k1", "k2"].map((callKey) => ({
    session: "c",
    agent: "a",
    toolCallId: callKey,
    callKey,
    toolName: "t",
    args: {},
    argsDigest: "d",
  }));
  const place = { runId: "r1", callKey: "c1", session: "c" };
  const steps: readonly (readonly [FactBody, number | undefined])[] = [
    [body.runStarted, undefined],
    [body.toolStarted("c1"), undefined],
    [{ type: "approval.requested", runId: "r1", callKey: "c2", argsDigest: "d" }, 1],
    [{ type: "child.waiting", ...place, waits }, 3],
    [{ type: "approval.decided", runId: "r1", callKey: "k1", decision: "allow", child }, 2],
    [{ type: "child.finished", ...place, outcome: "ok", output: [] }, 1],
    [body.runFinished, undefined],
  ];
  const log = steps.map(([fact], at) => ({ ...fact, seq: at + 1, at, v: 2 }) as Fact);
  const counts = log.map((_, at) => projectSession("s", undefined, log.slice(0, at + 1))?.summary.pendingApprovals);
  expect(counts).toEqual(steps.map(([, count]) => count));
});

it("no facts give no projection, and a fact of an unknown type moves the position alone", () => {
  expect(projectSession("s", undefined, [])).toBeUndefined();
  const unknown: Fact = JSON.parse('{"type":"session.dreamt","seq":12,"at":999,"v":9}');
  const before = projectSession("s", undefined, facts);
  expect(projectSession("s", before, [unknown])).toEqual({ ...before, summary: { ...before?.summary, lastSeq: 12, updatedAt: 999 } });
});

it("the first user message, a seeded one too, gives the title until one is given", () => {
  expect(projectSession("s", undefined, facts.slice(0, 10))?.summary).toMatchObject({ title: "Seeded", messageCount: 3 });
  expect(projectSession("s", undefined, facts)?.summary.title).toBe("Named");
});

it("a fact the parts of which are in the blob store is counted, and what is missing of it is left out", () => {
  const light: readonly Fact[] = JSON.parse(`[
    {"type":"session.opened","agent":"a","title":null,"context":[null],"at":1,"v":1,"seq":1},
    {"type":"input.accepted","inputId":"i","runId":"r","mode":"enqueue","message":{"role":"user","content":null},"at":1,"v":1,"seq":2},
    {"type":"input.accepted","inputId":"j","runId":"r","mode":"enqueue","message":{"role":"user","content":[null,{"type":"text","text":null}]},"at":1,"v":1,"seq":3},
    {"type":"client.requested","runId":"r","callKeys":null,"at":1,"v":1,"seq":4}]`);
  const summary = projectSession("s", undefined, light)?.summary;
  expect(summary).toMatchObject({ lastSeq: 4, messageCount: 2 });
  expect(summary).not.toHaveProperty("title");
  expect(light.flatMap(searchTextsOf)).toEqual([]);
});
