import {
  type AssistantMessage,
  type AssistantPart,
  callsOf,
  type Decision,
  type FactBody,
  type RunLimits,
  type ToolPolicy,
} from "@loopwright/core";
import type { ScenarioAnswer, ScenarioApproval } from "./loop-scenario.ts";

interface Attempt {
  readonly runId: string;
  readonly turn: number;
  readonly attempt: number;
}

/** The closing fact of a simulated model call. */
export function modelEnd(
  attempt: Attempt,
  answer: ScenarioAnswer,
  world: { readonly tools: { readonly [name: string]: ToolPolicy }; readonly isAborted: boolean },
): FactBody {
  const finished = { type: "model.finished", ...attempt, timings: { totalMs: 1 } } as const;
  if (world.isAborted) {
    const content: readonly AssistantPart[] =
      answer.text === "" ? answer.before : [...answer.before, { type: "text", text: answer.text.slice(0, 3) }];
    return { ...finished, message: { role: "assistant", content, stopReason: "aborted" }, stopReason: "aborted", calls: [] };
  }
  if (answer.fails)
    return { type: "model.failed", ...attempt, failure: { code: "MODEL_OVERLOADED", message: "busy", retryable: answer.fails.retryable } };
  const message = messageFrom(attempt, answer);
  const calls = callsOf(message).map((part) => ({
    callKey: part.callKey,
    route: part.problem ? ("invalid" as const) : (world.tools[part.name]?.home ?? ("unknown" as const)),
  }));
  const failure = answer.refuses ? { failure: { code: "MODEL_REFUSED" as const, message: "no", retryable: false } } : {};
  return {
    ...finished,
    message,
    stopReason: message.stopReason,
    calls,
    ...failure,
    ...(answer.decision ? { decision: decisions[answer.decision] } : {}),
  };
}

const decisions: { readonly [action in Decision["action"]]: Decision } = {
  stop: { action: "stop" },
  finish: { action: "finish", reason: "enough" },
  continue: { action: "continue" },
  nudge: { action: "nudge", notice: "Go on." },
  force: { action: "force", tool: "pure" },
};

function messageFrom({ runId, turn }: Attempt, answer: ScenarioAnswer): AssistantMessage {
  const { before, text, onText, tools, refuses } = answer;
  const content: AssistantPart[] = text === "" ? [...before] : [...before, { type: "text", text, ...onText }];
  const calls = refuses ? [] : tools;
  calls.forEach(({ name, problem }, i) => {
    const callKey = `${runId}.${turn}.${i}`;
    content.push({
      type: "tool_call",
      callKey,
      name,
      args: {},
      ...(problem ? { problem, argsText: "{" } : {}),
      ...answer.vendorPartOf(callKey),
    });
  });
  return { role: "assistant", content, stopReason: refuses ? "error" : calls.length > 0 ? "tool_calls" : "stop" };
}

/** The facts of a call whose gate asks a person, in place of its start, and the facts of the decision. */
export function approvalFacts(
  { runId, callKey }: { readonly runId: string; readonly callKey: string },
  { prints, args, deadlineMs }: ScenarioApproval,
  now: number,
): { readonly request: FactBody; readonly end: FactBody } {
  const call = { runId, callKey };
  const deadline = deadlineMs === undefined ? {} : { deadline: now + deadlineMs };
  const end: FactBody =
    prints === "expire"
      ? { type: "tool.finished", ...call, outcome: "expired", output: [{ type: "text", text: "Nobody decided." }] }
      : { type: "approval.decided", ...call, decision: prints, by: "ann", ...(args ? { args } : {}) };
  return { request: { type: "approval.requested", ...call, argsDigest: callKey, reason: "Sure?", ...deadline }, end };
}

/** Facts that fit no state, as a confused or hostile writer may append them. */
export function forgedFacts(runId: string, limits: RunLimits): readonly FactBody[] {
  const call = { runId, callKey: "forged.1.0" } as const;
  const model = { provider: "p", model: "m" } as const;
  return [
    { type: "tool.finished", ...call, outcome: "ok", output: [] },
    { type: "client.answered", ...call, outcome: "ok", output: [] },
    { type: "approval.decided", ...call, decision: "allow" },
    { type: "approval.requested", ...call, argsDigest: "forged" },
    { type: "model.failed", runId, turn: 99, attempt: 1, failure: { code: "INTERNAL", message: "", retryable: false } },
    { type: "model.started", runId, turn: 77, attempt: 1, requestDigest: "", ...model },
    { type: "run.started", runId: "nobody", agent: "a", agentDigest: "", tools: {}, limits, ...model },
    { type: "run.finished", runId: "nobody", status: "completed", reason: "answer" },
    { type: "wait.scheduled", runId: "nobody", turn: 1, attempt: 1, until: 0, reason: "" },
    { type: "abort.requested", runId: "nobody", reason: "forged" },
    { type: "head.moved", to: "999999" },
    { type: "child.linked", ...call, session: "forged", agent: "a" },
    { type: "child.finished", runId, session: "forged", outcome: "ok", output: [] },
    { type: "schedule.cleared", schedule: "forged" },
    {
      type: "input.accepted",
      inputId: "forged",
      runId: "forged",
      mode: "enqueue",
      origin: { type: "schedule", schedule: "forged", due: 1 },
    },
  ];
}
