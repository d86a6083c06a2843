import { present } from "../message/drop-undefined.ts";
import type { ToolResultMessage } from "../message/message.ts";
import { append, emptyList } from "./append-list.ts";
import { backgroundChild, foldBackgroundEnded, foldBackgroundLinked } from "./children/background-children.ts";
import { answeredBelow, foldAnswerBelow } from "./children/waits-of-children.ts";
import type { CallResult, FactOf } from "./fact.ts";
import { policyOfShown } from "./facts/tool-policy.ts";
import { appendToRun } from "./fold-inputs.ts";
import { withRemembered } from "./remembered-decisions.ts";
import type { Call, KeyedChild, KnownDecision, Run, State } from "./state.ts";

/** The open call with this key in the open run. */
export function openCall(state: State, fact: { readonly runId: string; readonly callKey: string }): Call | undefined {
  if (state.run?.runId !== fact.runId) return undefined;
  const call = state.run.calls.find(({ part }) => part.callKey === fact.callKey);
  return call && call.state !== "done" ? call : undefined;
}

/** True if the fact begins the next attempt of a server call. */
export function startsTool(state: State, fact: FactOf<"tool.started">): boolean {
  const call = openCall(state, fact);
  return (
    call !== undefined &&
    call.route === "server" &&
    fact.attempt === call.attempt + 1 &&
    (call.state === "pending" || call.inDoubt) &&
    !state.run?.abort
  );
}

export function foldToolStarted(state: State, fact: FactOf<"tool.started">): State {
  if (!startsTool(state, fact)) return state;
  return patchCall(state, fact.callKey, {
    state: "running",
    attempt: fact.attempt,
    inDoubt: false,
    lane: fact.seq,
    startedAt: fact.at,
    ...(fact.args ? { args: fact.args } : {}),
  });
}

/** The open call that gets its one result by the fact. Answers of clients fit only calls that were sent to a client. */
export function settlesCall(state: State, fact: FactOf<"tool.finished"> | FactOf<"client.answered">): Call | undefined {
  const call = fact.type === "client.answered" && fact.child ? undefined : openCall(state, fact);
  return fact.type === "client.answered" && call?.state !== "awaiting_client" ? undefined : call;
}

export function foldToolFinished(state: State, fact: FactOf<"tool.finished">): State {
  const call = settlesCall(state, fact);
  if (!call) return state;
  const settled = settle(state, call, fact);
  const { run } = settled;
  // A run that is about to end calls no more tools.
  if (fact.force === undefined || !run || endsWithCalls(run)) return settled;
  return { ...settled, run: { ...run, decision: { action: "force", tool: fact.force } } };
}

/** True if no model call follows the calls of the turn. */
const endsWithCalls = ({ decision }: Run): boolean => decision?.action === "stop" || decision?.action === "finish";

export function foldClientAnswered(state: State, fact: FactOf<"client.answered">): State {
  if (fact.child) return foldAnswerBelow(state, fact);
  const call = settlesCall(state, fact);
  return call ? settle(state, call, fact) : state;
}

export function foldClientRequested(state: State, fact: FactOf<"client.requested">): State {
  if (state.run?.runId !== fact.runId) return state;
  let next = state;
  for (const callKey of fact.callKeys) {
    const call = openCall(state, { runId: fact.runId, callKey });
    if (call?.state !== "pending" || call.route !== "client") continue;
    const deadline = clientDeadline(state.run, call);
    const args = fact.args?.[callKey];
    const change = { ...(deadline === undefined ? {} : { deadline }), ...(args ? { args } : {}) };
    // The deadline of the approval does not count for the answer.
    next = patchCall(withoutDeadline(next, callKey), callKey, { state: "awaiting_client", ...change });
  }
  return next;
}

/** The deadline for the answer of a client call, in milliseconds since the epoch; `undefined`: there is none. */
export function clientDeadline(run: Run, call: Call): number | undefined {
  const timeoutMs = policyOfShown(run, call.part.name)?.timeoutMs ?? 0;
  return timeoutMs > 0 ? (call.approval?.at ?? run.calledAt) + timeoutMs : undefined;
}

/** True if the call waits for the gates before it is sent to its client. */
export function awaitsGates({ gatesClient }: Run, { route, state, approval }: Call): boolean {
  return gatesClient === true && route === "client" && state === "pending" && !approval;
}

/** The call for which the fact requests approval: one that was neither started nor submitted for approval before. */
export function asksAbout(state: State, fact: FactOf<"approval.requested">): Call | undefined {
  const call = openCall(state, fact);
  return call?.state === "pending" && (call.route === "server" || call.route === "client") && !call.approval ? call : undefined;
}

/** The call on which the fact decides: one that is awaiting approval. */
export function decidesOn(state: State, fact: FactOf<"approval.decided">): Call | undefined {
  const call = fact.child ? undefined : openCall(state, fact);
  return call?.state === "awaiting_approval" ? call : undefined;
}

export function foldApprovalRequest(state: State, fact: FactOf<"approval.requested">): State {
  return asksAbout(state, fact) ? patchCall(state, fact.callKey, askedBy(fact)) : state;
}

/** The changes of a call by a request for approval. */
export function askedBy({ argsDigest, reason, deadline, args }: FactOf<"approval.requested">): Partial<Call> {
  return {
    state: "awaiting_approval",
    asking: { argsDigest, ...present({ reason }) },
    ...present({ deadline, args }),
  };
}

export function foldApprovalDecision(state: State, fact: FactOf<"approval.decided">): State {
  if (!decidesOn(state, fact) && !answeredBelow(state, fact)) return state;
  const { callKey, runId, seq, at, decision, by, args, note, argsDigest, remember, idempotencyKey: key } = fact;
  const known: KnownDecision = {
    callKey,
    runId,
    seq,
    at,
    decision,
    ...present({ key, argsDigest, by, args, note, pattern: remember?.pattern }),
  };
  const decisions = append(state.decisions ?? emptyList<KnownDecision>(), known);
  if (fact.child) return withRemembered({ ...foldAnswerBelow(state, fact), decisions }, fact);
  const isClient = openCall(state, fact)?.route === "client";
  const approval = { decision, ...(note === undefined ? {} : { note }), ...(isClient ? { at } : {}) };
  const decided = patchCall(state, callKey, { state: "pending", approval, ...(args ? { args } : {}) });
  return withRemembered({ ...decided, decisions }, fact);
}

/** The call that will wait for the child: a server call without a child. */
export function awaitsChild(state: State, { runId, callKey, key }: FactOf<"child.linked">): Call | undefined {
  const call = callKey === undefined || key !== undefined ? undefined : openCall(state, { runId, callKey });
  return call?.route === "server" && (call.state === "pending" || call.state === "running") && !state.run?.abort ? call : undefined;
}

/** True if user code starts a child under a key that is new for its call, or for the hooks of the run. */
export function linksKeyed({ run }: State, { runId, callKey, key }: FactOf<"child.linked">): boolean {
  return key !== undefined && run?.runId === runId && !run.children?.some((child) => child.key === key && child.callKey === callKey);
}

export function foldChildLinked(state: State, fact: FactOf<"child.linked">): State {
  const { callKey, session, agent, key } = fact;
  const call = awaitsChild(state, fact);
  if (call) return patchCall(state, call.part.callKey, { state: "awaiting_child", inDoubt: false, child: { session, agent } });
  const { run } = state;
  if (!run || key === undefined || !linksKeyed(state, fact)) return state;
  const { budget, background } = fact;
  const more = { ...(callKey === undefined ? {} : { callKey }), ...(budget ? { budget } : {}) };
  const child: KeyedChild = { key, session, agent, ...more, ...(background ? { background: true as const } : {}) };
  return foldBackgroundLinked({ ...state, run: { ...run, children: [...(run.children ?? []), child] } }, fact);
}

/** The call that waits for this child: its end is the result of the call. */
export function endsChildCall(state: State, { runId, session }: FactOf<"child.finished">): Call | undefined {
  const { run } = state;
  return run?.runId === runId ? run.calls.find((call) => call.state === "awaiting_child" && call.child?.session === session) : undefined;
}

/** The child of user code whose end the fact records. */
export function endsKeyed({ run }: State, { runId, session }: FactOf<"child.finished">): KeyedChild | undefined {
  return run?.runId === runId ? run.children?.find((child) => child.session === session && !child.isDone && !child.background) : undefined;
}

export function foldChildFinished(state: State, fact: FactOf<"child.finished">): State {
  if (backgroundChild(state, fact.session)) return foldBackgroundEnded(state, fact);
  const call = endsChildCall(state, fact);
  const child = endsKeyed(state, fact);
  if (!state.run || !(call || child)) return state;
  const toolCallCount = state.run.toolCallCount + (fact.toolCallCount ?? 0);
  const children = child && {
    children: state.run.children?.map((other) => (other === child ? { ...child, isDone: true as const } : other)) ?? [],
  };
  const counted = { ...state, run: { ...state.run, toolCallCount, ...children } };
  return call ? settle(counted, call, fact) : counted;
}

function settle(state: State, call: Call, fact: FactOf<"tool.finished"> | FactOf<"client.answered"> | FactOf<"child.finished">): State {
  const settled = patchCall(state, call.part.callKey, { state: "done" });
  const key = fact.type === "client.answered" && fact.idempotencyKey !== undefined ? { key: fact.idempotencyKey } : {};
  const { summary: given } = fact;
  const summary = typeof given === "string" && given.trim() !== "" ? { summary: given } : {};
  const entry = { id: String(fact.seq), message: resultMessage(call, fact), at: fact.at, ...key, ...summary };
  return appendToRun(settled, settled.run, entry);
}

/** The message that a result becomes. */
export function resultMessage(call: Call, result: CallResult & Ran): ToolResultMessage {
  return {
    role: "tool_result",
    toolCallId: call.part.id,
    callKey: call.part.callKey,
    toolName: call.part.name,
    content: result.output,
    outcome: result.outcome,
    ...(result.outcome === "ok" ? {} : { isError: true }),
    ...(result.details === undefined ? {} : { details: result.details }),
    ...ranAs(result),
  };
}

type Ran = Pick<ToolResultMessage, "durationMs" | "progress">;

/** How a tool ran, apart from its result. */
export function ranAs({ durationMs, progress }: Ran): Ran {
  return { ...(durationMs === undefined ? {} : { durationMs }), ...(progress === undefined ? {} : { progress }) };
}

function withoutDeadline(state: State, callKey: string): State {
  const { run } = state;
  if (!run) return state;
  const without = ({ deadline: _, ...call }: Call): Call => call;
  return { ...state, run: { ...run, calls: run.calls.map((call) => (call.part.callKey === callKey ? without(call) : call)) } };
}

function patchCall(state: State, callKey: string, change: Partial<Call>): State & { readonly run: Run } {
  const run = state.run as Run;
  return { ...state, run: { ...run, calls: run.calls.map((call) => (call.part.callKey === callKey ? { ...call, ...change } : call)) } };
}
