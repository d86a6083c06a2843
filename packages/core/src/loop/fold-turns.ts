import type { Failure } from "../errors.ts";
import { present } from "../message/drop-undefined.ts";
import { callsOf, type MessageId } from "../message/message.ts";
import { allSpent, contextTokensOf } from "../message/usage.ts";
import { append } from "./append-list.ts";
import type { FactOf } from "./fact.ts";
import { mergedHookState, sessionPart } from "./facts/hook-verdicts.ts";
import { policyOfShown } from "./facts/tool-policy.ts";
import { appendToRun, placeOf, withInputs } from "./fold-inputs.ts";
import { linkOf, mayRetry, triesOf } from "./retry/may-call-model-again.ts";
import { type Abort, type Call, endedRun, type QueuedInput, type Run, type State } from "./state.ts";

/** True if the fact starts the run of the first waiting input. */
export function startsRun(state: State, fact: FactOf<"run.started">): boolean {
  return state.status === "open" && !state.run && state.inputs[0]?.runId === fact.runId;
}

/** Index of the message at which the run of an input begins; -1: none. */
export function startOf(state: State, { parent }: QueuedInput): number {
  return parent === undefined ? state.head : (placeOf(state, parent) ?? state.head);
}

export function foldRunStarted(state: State, fact: FactOf<"run.started">): State {
  const [input] = state.inputs;
  if (!input || !startsRun(state, fact)) return state;
  const together = inputsOf(state, fact.runId);
  const inputs = state.inputs.filter(({ runId }) => runId !== fact.runId);
  const hookState = together.reduce((merged, { hookState: own }) => (own ? mergedHookState(merged, own) : merged), state.sessionHookState);
  const { runId: id, agent, provider, model, tools, limits, gatesClient, chain, context, budget } = fact;
  const { inputId, access, options, labels, trace, schedule, round, prepaid, abort, answer } = input;
  const run: Run = {
    ...{ runId: id, inputId, agent, provider, model, tools, limits },
    ...present({ gatesClient, chain, context, budget, access, options, labels, trace, hookState, schedule, round, prepaid, abort, answer }),
    ...allSpent(together.flatMap(({ spent }) => spent ?? [])),
    startedAt: fact.at,
    tip: startOf(state, input),
    ...{ turn: 0, attempt: 0, steered: [], calls: [] },
    calledAt: fact.at,
    toolCallCount: 0,
    answered: false,
  };
  let next: State & { readonly run: Run } = { ...state, inputs, run };
  for (const { seq, message } of together) if (message) next = appendToRun(next, next.run, { id: String(seq), message, at: fact.at });
  return next;
}

/** The waiting inputs of this run, first the one that created it. */
export const inputsOf = ({ inputs }: State, wanted: string): readonly QueuedInput[] => inputs.filter(({ runId }) => runId === wanted);

/** True if the fact begins the next attempt, or, when every call of the last turn has its result, the next turn. */
export function startsModel(state: State, fact: FactOf<"model.started">): boolean {
  const { run } = state;
  if (run?.runId !== fact.runId || run.open || run.abort || run.calls.some((call) => call.state !== "done")) return false;
  return run.retry ? fact.turn === run.turn && fact.attempt === run.attempt + 1 : fact.turn === run.turn + 1 && fact.attempt === 1;
}

export function foldModelStarted(state: State, fact: FactOf<"model.started">): State {
  const { run } = state;
  if (!run || !startsModel(state, fact)) return state;
  const { retry: _, shown: ____, shownState: _____, ...kept } = run;
  const { handedOver: ___, linkSince: ______, failed: _______, ...fresh } = kept;
  const rest = fact.attempt === 1 ? fresh : kept;
  const { seq: lane, turn, attempt, expected, tools } = fact;
  const open = { lane, turn, attempt, inDoubt: false, ...present({ expected }) };
  const began: Run = {
    ...{ ...rest, turn, attempt, open, steered: [], calls: [], answered: false },
    ...(tools ? { shown: fact.tools } : {}),
    ...(tools && run.hookState ? { shownState: run.hookState } : {}),
    ...(attempt === 1 ? { answerId: String(lane) } : {}),
  };
  let next: State & { readonly run: Run } = { ...state, model: fact.model, run: began };
  for (const input of run.steered) {
    if (input.message) next = appendToRun(next, next.run, { id: String(input.seq), message: input.message, at: fact.at });
  }
  fact.notices?.forEach((text, i) => {
    next = appendToRun(next, next.run, { id: `${fact.seq}.${i}`, message: { role: "notice", text }, at: fact.at });
  });
  return next;
}

/** True if the fact closes the open attempt. */
export function endsAttempt(state: State, fact: FactOf<"model.finished"> | FactOf<"model.failed">): boolean {
  const open = state.run?.runId === fact.runId ? state.run.open : undefined;
  return open !== undefined && open.turn === fact.turn && open.attempt === fact.attempt;
}

/** True if a hook answers in place of a model: between two turns, and without calls. */
export function answersAlone({ run }: State, fact: FactOf<"model.finished">): boolean {
  if (fact.attempt !== 0 || run?.runId !== fact.runId || run.open || run.abort || run.retry || fact.turn !== run.turn + 1) return false;
  return callsOf(fact.message).length === 0 && run.calls.every((call) => call.state === "done");
}

/** Id of the message of an answer. It is fixed when the first attempt begins, so that it is the same over all attempts. */
export const answerIdOf = ({ run }: State, { messageId, attempt, seq }: FactOf<"model.finished">): MessageId =>
  messageId ?? (attempt === 0 ? String(seq) : (run?.answerId ?? String(seq)));

export function foldModelFinished(state: State, fact: FactOf<"model.finished">): State {
  if (!state.run) return state;
  const { open: _, decision: __, ...run } = state.run;
  const routes = new Map(fact.calls.map(({ callKey, route }) => [callKey, route]));
  const calls = callsOf(fact.message).map(
    (part): Call => ({ part, route: routes.get(part.callKey) ?? "unknown", state: "pending", attempt: 0, inDoubt: false }),
  );
  const counted = calls.filter((call) => policyOfShown(run, call.part.name)?.counts ?? true).length;
  const next: Run = {
    ...run,
    ...(fact.attempt === 0 ? { turn: fact.turn, attempt: 0 } : {}),
    calls,
    calledAt: fact.at,
    toolCallCount: run.toolCallCount + counted,
    answered: calls.length === 0,
    stopReason: fact.stopReason,
    ...(fact.failure && !run.abort ? { failure: fact.failure } : {}),
    ...(fact.decision ? { decision: fact.decision } : {}),
  };
  const contextTokens = contextTokensOf(fact.usage);
  // Clients show the model of the run with each answer.
  const named = fact.attempt === 0 ? { ...state, model: run.model } : state;
  const withMessage = appendToRun(named, next, { id: answerIdOf(state, fact), message: fact.message, at: fact.at });
  return contextTokens === undefined ? withMessage : { ...withMessage, contextTokens };
}

export function foldModelFailed(state: State, fact: FactOf<"model.failed">): State {
  if (!state.run || !endsAttempt(state, fact)) return state;
  const { open: _, ...closed } = state.run;
  const run: Run = { ...closed, ...failedOf(closed, fact.failure, state.model) };
  const link = linkOf(run, fact);
  const moved: Partial<Run> =
    link === undefined
      ? { retry: { failure: fact.failure } }
      : { retry: { failure: fact.failure, until: fact.at }, link, linkSince: triesOf(run, fact) };
  const retried: Run = mayRetry(run, fact) ? { ...run, ...moved } : { ...run, failure: fact.failure };
  const next: Run = fact.failure.code === "HANDED_OVER" ? { ...retried, handedOver: (run.handedOver ?? 0) + 1 } : retried;
  if (fact.failure.code !== "MODEL_THINKING_REFUSED") return { ...state, run: next };
  return { ...state, thinkingRefusedAt: Number(run.answerId ?? fact.seq), run: { ...next, repairedTurn: run.turn } };
}

/** The failed attempts of the turn with this one, unless it was handed over (which is no failure) or its model is not in the chain. */
function failedOf({ chain, link = 0, failed = [] }: Run, { code }: Failure, model: string | undefined): Pick<Run, "failed"> {
  const own = chain?.links[link];
  if (!own || own.model !== model || code === "HANDED_OVER") return {};
  return { failed: [...failed, { provider: own.provider, model: own.model, code }] };
}

/** True if the fact sets the time when the next attempt may begin. */
export function waits({ run }: State, fact: FactOf<"wait.scheduled">): boolean {
  return run?.runId === fact.runId && run.retry !== undefined && run.turn === fact.turn && run.attempt === fact.attempt;
}

export function foldWait(state: State, fact: FactOf<"wait.scheduled">): State {
  const { run } = state;
  if (!run?.retry || !waits(state, fact)) return state;
  return { ...state, run: { ...run, retry: { ...run.retry, until: fact.until } } };
}

/** After a claim of another owner the outcome of every open intent is unknown. */
export function foldClaim(state: State, fact: FactOf<"owner.claimed">): State {
  const epoch = fact.epoch ?? 0;
  if (epoch <= state.epoch) return state;
  const { run } = state;
  if (!run) return { ...state, epoch };
  const calls = run.calls.some(isUnderWay) ? run.calls.map((call) => (isUnderWay(call) ? { ...call, inDoubt: true } : call)) : run.calls;
  const summary = run.summary ? { summary: { ...run.summary, inDoubt: true } } : {};
  return { ...state, epoch, run: { ...run, calls, ...(run.open ? { open: { ...run.open, inDoubt: true } } : {}), ...summary } };
}

const isUnderWay = (call: Call): boolean => call.state === "running";

/** True if the fact stops a run that is open or waits, and is not being stopped yet. */
export function stops({ run, inputs }: State, { runId }: FactOf<"abort.requested">): boolean {
  return run?.runId === runId ? !run.abort : inputs.some((input) => input.runId === runId && !input.abort);
}

/** Stops the open run; a run that waits is stopped as soon as it starts. */
export function foldAbort(state: State, fact: FactOf<"abort.requested">): State {
  const abort: Abort = { reason: fact.reason, at: fact.at, ...(fact.by === undefined ? {} : { by: fact.by }) };
  const { run } = state;
  if (run?.runId === fact.runId) return { ...state, run: { ...run, abort } };
  return { ...state, inputs: state.inputs.map((input) => (input.runId === fact.runId ? { ...input, abort } : input)) };
}

/** The next turn is the last one; if an attempt is to be made again, that is the turn of the attempt. */
export function foldLimit(state: State, fact: FactOf<"limit.reached">): State {
  const { run } = state;
  if (run?.runId !== fact.runId || run.limit) return state;
  return { ...state, run: { ...run, limit: { which: fact.which, value: fact.value, turn: run.retry ? run.turn - 1 : run.turn } } };
}

/** True if the fact ends the open run, which must have no running effect. */
export function endsRun(state: State, fact: FactOf<"run.finished">): boolean {
  const { run } = state;
  return run?.runId === fact.runId && !run.open && run.calls.every((call) => call.state === "done");
}

/** Steered inputs that did not join get runs of their own, before the waiting inputs, but after a waiting `interrupt`. */
export function foldRunFinished(state: State, fact: FactOf<"run.finished">): State {
  const { run, sessionHookState: _, ...rest } = state;
  if (!run || !endsRun(state, fact)) return state;
  const { toolCallCount } = run;
  const lastRun = { ...endedRun(run, fact), ...(state.parent && toolCallCount > 0 ? { toolCallCount } : {}) };
  const kept = sessionPart(fact.hookState ? mergedHookState(run.hookState, fact.hookState) : run.hookState);
  return {
    ...rest,
    ...(kept ? { sessionHookState: kept } : {}),
    inputs: run.steered.length > 0 ? withInputs(state.inputs, run.steered, "first") : state.inputs,
    head: run.movedHead ?? run.tip,
    lastRun,
    ended: append(state.ended, lastRun),
  };
}
