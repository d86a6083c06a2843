import type { ToolResultMessage } from "../message/message.ts";
import { append, emptyList } from "./append-list.ts";
import type { CallResult, FactOf } from "./fact.ts";
import { appendToRun } from "./inputs.ts";
import { policyOfShown } from "./policy.ts";
import type { Call, KnownDecision, Run, State } from "./state.ts";
import { spend } from "./turns.ts";

/** The open call of this key in the open run. */
export function openCall(state: State, fact: { readonly runId: string; readonly callKey: string }): Call | undefined {
  if (state.run?.runId !== fact.runId) return undefined;
  const call = state.run.calls.find(({ part }) => part.callKey === fact.callKey);
  return call && call.stage !== "settled" ? call : undefined;
}

/** Whether the fact begins the next attempt of a server call. */
export function startsTool(state: State, fact: FactOf<"tool.started">): boolean {
  const call = openCall(state, fact);
  return (
    call !== undefined &&
    call.route === "server" &&
    fact.attempt === call.attempt + 1 &&
    (call.stage === "owed" || call.inDoubt) &&
    !state.run?.abort
  );
}

export function foldToolStarted(state: State, fact: FactOf<"tool.started">): State {
  if (!startsTool(state, fact)) return state;
  return patchCall(state, fact.callKey, {
    stage: "started",
    attempt: fact.attempt,
    inDoubt: false,
    lane: fact.seq,
    startedAt: fact.at,
    ...(fact.args ? { args: fact.args } : {}),
  });
}

/** Whether the fact gives an open call its one result; answers from outside only fit calls that were asked for. */
export function settlesCall(state: State, fact: FactOf<"tool.finished"> | FactOf<"client.answered">): Call | undefined {
  const call = openCall(state, fact);
  return fact.type === "client.answered" && call?.stage !== "requested" ? undefined : call;
}

export function foldToolFinished(state: State, fact: FactOf<"tool.finished">): State {
  return spend(settle(state, fact), settlesCall(state, fact) ? fact : {});
}

export function foldClient(state: State, fact: FactOf<"client.requested"> | FactOf<"client.answered">): State {
  if (fact.type === "client.answered") return settle(state, fact);
  if (state.run?.runId !== fact.runId) return state;
  let next = state;
  for (const callKey of fact.callKeys) {
    const call = openCall(state, { runId: fact.runId, callKey });
    if (call?.stage !== "owed" || call.route !== "client") continue;
    const deadline = clientDeadline(state.run, call);
    next = patchCall(next, callKey, { stage: "requested", ...(deadline === undefined ? {} : { deadline }) });
  }
  return next;
}

/** When the answer of a client call comes too late, milliseconds since the epoch; `undefined`: never. */
export function clientDeadline(run: Run, call: Call): number | undefined {
  const timeoutMs = policyOfShown(run, call.part.name)?.timeoutMs ?? 0;
  return timeoutMs > 0 ? run.calledAt + timeoutMs : undefined;
}

/** The call that the fact requests an approval for: a call of a server tool that was neither started nor submitted for approval before. */
export function asksAbout(state: State, fact: FactOf<"approval.requested">): Call | undefined {
  const call = openCall(state, fact);
  return call?.stage === "owed" && call.route === "server" && !call.approval ? call : undefined;
}

/** The call on which the fact decides: one that a person was asked about. */
export function decidesOn(state: State, fact: FactOf<"approval.decided">): Call | undefined {
  const call = openCall(state, fact);
  return call?.stage === "asked" ? call : undefined;
}

export function foldApprovalRequest(state: State, fact: FactOf<"approval.requested">): State {
  return asksAbout(state, fact) ? patchCall(state, fact.callKey, askedBy(fact)) : state;
}

/** What a request for approval changes of its call. */
export function askedBy({ argsDigest, reason, deadline, args }: FactOf<"approval.requested">): Partial<Call> {
  return {
    stage: "asked",
    asking: { argsDigest, ...(reason === undefined ? {} : { reason }) },
    ...(deadline === undefined ? {} : { deadline }),
    ...(args ? { args } : {}),
  };
}

export function foldApprovalDecision(state: State, fact: FactOf<"approval.decided">): State {
  if (!decidesOn(state, fact)) return state;
  const { callKey, runId, seq, at, decision, by, args, note, argsDigest, idempotencyKey: key } = fact;
  const known: KnownDecision = {
    callKey,
    runId,
    seq,
    at,
    decision,
    ...(key === undefined ? {} : { key }),
    ...(argsDigest === undefined ? {} : { argsDigest }),
    ...(by === undefined ? {} : { by }),
    ...(args ? { args } : {}),
    ...(note === undefined ? {} : { note }),
  };
  const approval = { decision, ...(note === undefined ? {} : { note }) };
  const decided = patchCall(state, callKey, { stage: "owed", approval, ...(args ? { args } : {}) });
  return { ...decided, decisions: append(state.decisions ?? emptyList<KnownDecision>(), known) };
}

export function foldChild(state: State, fact: FactOf<"child.linked">): State {
  return openCall(state, fact) ? patchCall(state, fact.callKey, { child: { session: fact.session, agent: fact.agent } }) : state;
}

function settle(state: State, fact: FactOf<"tool.finished"> | FactOf<"client.answered">): State {
  const call = settlesCall(state, fact);
  if (!call || !state.run) return state;
  const settled = patchCall(state, fact.callKey, { stage: "settled" });
  const key = fact.type === "client.answered" && fact.idempotencyKey !== undefined ? { key: fact.idempotencyKey } : {};
  const { summary: given } = fact;
  const summary = typeof given === "string" && given.trim() !== "" ? { summary: given } : {};
  const entry = { id: String(fact.seq), message: resultMessage(call, fact), at: fact.at, ...key, ...summary };
  return appendToRun(settled, settled.run, entry);
}

/** The message that a result becomes. */
export function resultMessage(call: Call, result: CallResult & { readonly durationMs?: number }): ToolResultMessage {
  return {
    role: "tool_result",
    toolCallId: call.part.id,
    callKey: call.part.callKey,
    toolName: call.part.name,
    content: result.output,
    outcome: result.outcome,
    ...(result.outcome === "ok" ? {} : { isError: true }),
    ...(result.details === undefined ? {} : { details: result.details }),
    ...(result.durationMs === undefined ? {} : { durationMs: result.durationMs }),
  };
}

function patchCall(state: State, callKey: string, change: Partial<Call>): State & { readonly run: Run } {
  const run = state.run as Run;
  return { ...state, run: { ...run, calls: run.calls.map((call) => (call.part.callKey === callKey ? { ...call, ...change } : call)) } };
}
