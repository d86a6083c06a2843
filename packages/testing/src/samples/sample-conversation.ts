import { defaultLimits, type FactBody, type FactDraft, factVersion } from "@loopwright/core";
import type { SessionLog } from "@loopwright/core/ports";
import { expectThat } from "../kit/kit.ts";
import { sampleAt } from "./sample-facts.ts";

type ModelFinished = Extract<FactBody, { readonly type: "model.finished" }>;

/** Bodies of facts as a run leaves them, short enough to read. */
interface SampleBodies {
  opened(more?: Partial<Extract<FactBody, { readonly type: "session.opened" }>>): FactBody;
  input(text: string): FactBody;
  readonly runStarted: FactBody;
  readonly modelStarted: FactBody;
  answer(text: string, more?: Partial<ModelFinished>): FactBody;
  toolStarted(callKey: string): FactBody;
  toolFinished(callKey: string, output: string): FactBody;
  clientRequested(...callKeys: readonly string[]): FactBody;
  clientAnswered(callKey: string): FactBody;
  approvalRequested(callKey: string): FactBody;
  approvalDecided(callKey: string): FactBody;
  readonly runFinished: FactBody;
  titled(title: string): FactBody;
}

/** One run of an agent named `helper`. */
export const sampleBody: SampleBodies = {
  opened: (more = {}) => ({
    type: "session.opened",
    agent: "helper",
    ...more,
  }),
  input: (text) => ({
    type: "input.accepted",
    inputId: "i1",
    runId: "r1",
    mode: "enqueue",
    message: { role: "user", content: text },
  }),
  runStarted: {
    type: "run.started",
    runId: "r1",
    agent: "helper",
    agentDigest: "d",
    provider: "p",
    model: "m",
    tools: {},
    limits: { ...defaultLimits, turnsMax: 1, onLimit: "stop", attemptsMax: 1, toolAttemptsMax: 1, parallelMax: 1, abortGraceMs: 1 },
  },
  modelStarted: { type: "model.started", runId: "r1", turn: 1, attempt: 1, provider: "p", model: "m", requestDigest: "d" },
  answer: (text, more = {}) => ({
    type: "model.finished",
    runId: "r1",
    turn: 1,
    attempt: 1,
    message: { role: "assistant", content: [{ type: "text", text }], stopReason: "stop" },
    stopReason: "stop",
    calls: [],
    timings: { totalMs: 1 },
    ...more,
  }),
  toolStarted: (callKey) => ({
    type: "tool.started",
    runId: "r1",
    callKey,
    attempt: 1,
    argsDigest: "d",
    replay: "once",
    idempotencyKey: "k",
  }),
  toolFinished: (callKey, output) => ({
    type: "tool.finished",
    runId: "r1",
    callKey,
    outcome: "ok",
    output: [{ type: "text", text: output }],
  }),
  clientRequested: (...callKeys) => ({ type: "client.requested", runId: "r1", callKeys }),
  approvalRequested: (callKey) => ({ type: "approval.requested", runId: "r1", callKey, argsDigest: "d" }),
  approvalDecided: (callKey) => ({ type: "approval.decided", runId: "r1", callKey, decision: "allow", by: "local" }),
  clientAnswered: (callKey) => ({ type: "client.answered", runId: "r1", callKey, outcome: "ok", output: [] }),
  runFinished: { type: "run.finished", runId: "r1", status: "completed", reason: "stop" },
  titled: (title) => ({ type: "session.changed", title }),
};

/** Writes facts at the end of a session, one minute after the other from `minute` on. */
export async function writeFacts(
  log: SessionLog,
  { session, scope = "local", minute = 0 }: { readonly session: string; readonly scope?: string; readonly minute?: number },
  bodies: readonly FactBody[],
): Promise<void> {
  const ref = { scope, session };
  const { lastSeq } = await log.head(ref);
  const facts: readonly FactDraft[] = bodies.map((body, at) => ({ ...body, at: sampleAt + (minute + at) * 60_000, v: factVersion }));
  const outcome = await log.append(ref, { expectedSeq: lastSeq, batchId: `at ${lastSeq}`, facts });
  expectThat(outcome.type === "ok", `the append answered ${outcome.type}`);
}
