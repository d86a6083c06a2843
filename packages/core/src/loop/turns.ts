import { callsOf } from "../message/message.ts";
import { addSpent, type Cost, contextTokensOf, type Usage } from "../message/usage.ts";
import { append } from "./append-list.ts";
import type { FactOf } from "./fact.ts";
import { appendToRun, placeOf, withInputs } from "./inputs.ts";
import { policyOfShown } from "./policy.ts";
import { type Abort, type Call, endedRun, type QueuedInput, type Run, type State } from "./state.ts";

/** Whether the fact starts the run of the first waiting input. */
export function startsRun(state: State, fact: FactOf<"run.started">): boolean {
  return state.status === "open" && !state.run && state.inputs[0]?.runId === fact.runId;
}

/** Place of the message that the run of an input begins at; -1: none. */
export function startOf(state: State, { parent }: QueuedInput): number {
  return parent === undefined ? state.head : (placeOf(state, parent) ?? state.head);
}

export function foldRunStarted(state: State, fact: FactOf<"run.started">): State {
  const [input, ...inputs] = state.inputs;
  if (!input || !startsRun(state, fact)) return state;
  const run: Run = {
    runId: fact.runId,
    inputId: input.inputId,
    agent: fact.agent,
    provider: fact.provider,
    model: fact.model,
    tools: fact.tools,
    limits: fact.limits,
    ...(input.access ? { access: input.access } : {}),
    ...(input.options ? { options: input.options } : {}),
    ...(input.abort ? { abort: input.abort } : {}),
    tip: startOf(state, input),
    turn: 0,
    attempt: 0,
    steered: [],
    calls: [],
    calledAt: fact.at,
    toolCallCount: 0,
    answered: false,
  };
  const next: State = { ...state, inputs, run };
  return input.message ? appendToRun(next, run, { id: String(input.seq), message: input.message, at: fact.at }) : next;
}

/** Whether the fact begins the next attempt, or the next turn once every call of the last one has its result. */
export function startsModel(state: State, fact: FactOf<"model.started">): boolean {
  const { run } = state;
  if (run?.runId !== fact.runId || run.open || run.abort || run.calls.some((call) => call.stage !== "settled")) return false;
  return run.retry ? fact.turn === run.turn && fact.attempt === run.attempt + 1 : fact.turn === run.turn + 1 && fact.attempt === 1;
}

export function foldModelStarted(state: State, fact: FactOf<"model.started">): State {
  const { run } = state;
  if (!run || !startsModel(state, fact)) return state;
  const { retry: _, decision: __, shown: ____, ...kept } = run;
  const { handedOver: ___, ...fresh } = kept;
  const rest = fact.attempt === 1 ? fresh : kept;
  const open = { lane: fact.seq, turn: fact.turn, attempt: fact.attempt, inDoubt: false };
  const began: Run = {
    ...rest,
    turn: fact.turn,
    attempt: fact.attempt,
    open,
    steered: [],
    calls: [],
    answered: false,
    ...(fact.tools ? { shown: fact.tools } : {}),
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

/** Whether the fact closes the attempt that is open. */
export function endsAttempt(state: State, fact: FactOf<"model.finished"> | FactOf<"model.failed">): boolean {
  const open = state.run?.runId === fact.runId ? state.run.open : undefined;
  return open !== undefined && open.turn === fact.turn && open.attempt === fact.attempt;
}

export function foldModelFinished(state: State, fact: FactOf<"model.finished">): State {
  if (!state.run || !endsAttempt(state, fact)) return state;
  const { open: _, ...run } = state.run;
  const routes = new Map(fact.calls.map(({ callKey, route }) => [callKey, route]));
  const calls = callsOf(fact.message).map(
    (part): Call => ({ part, route: routes.get(part.callKey) ?? "unknown", stage: "owed", attempt: 0, inDoubt: false }),
  );
  const counted = calls.filter((call) => policyOfShown(run, call.part.name)?.counts ?? true).length;
  const next: Run = {
    ...run,
    calls,
    calledAt: fact.at,
    toolCallCount: run.toolCallCount + counted,
    answered: calls.length === 0,
    stopReason: fact.stopReason,
    ...(fact.failure && !run.abort ? { failure: fact.failure } : {}),
    ...(fact.decision ? { decision: fact.decision } : {}),
  };
  const contextTokens = contextTokensOf(fact.usage);
  const withMessage = appendToRun(state, next, { id: String(fact.seq), message: fact.message, at: fact.at });
  return spend(contextTokens === undefined ? withMessage : { ...withMessage, contextTokens }, fact);
}

export function foldModelFailed(state: State, fact: FactOf<"model.failed">): State {
  if (!state.run || !endsAttempt(state, fact)) return state;
  const { open: _, ...run } = state.run;
  const retried: Run = mayRetry(run, fact) ? { ...run, retry: { failure: fact.failure } } : { ...run, failure: fact.failure };
  const next: Run = fact.failure.code === "HANDED_OVER" ? { ...retried, handedOver: (run.handedOver ?? 0) + 1 } : retried;
  if (fact.failure.code !== "MODEL_THINKING_REFUSED") return spend({ ...state, run: next }, fact);
  return spend({ ...state, thinkingRefusedAt: fact.seq, run: { ...next, repairedTurn: run.turn } }, fact);
}

/** Longest wait that another side may ask for; beyond it the run fails at once. */
export const retryAfterMaxMs = 60_000;

/** Longest wait for a circuit that is open; beyond it the run fails at once. */
export const circuitWaitMaxMs = 15_000;

/** How often one model call may be handed over: each time is a deploy, not a fault. */
const handOversMax = 20;

/**
 * Whether another attempt follows a failed one. One that was handed over has not failed: it does not count. Neither does the one repaired attempt
 * of a turn whose request held thinking that the vendor refuses: it is another request.
 */
export function mayRetry(run: Run, fact: Pick<FactOf<"model.failed">, "failure" | "attempt">): boolean {
  const { failure } = fact;
  const handedOver = run.handedOver ?? 0;
  if (failure.code === "HANDED_OVER") return handedOver < handOversMax;
  if (failure.code === "MODEL_THINKING_REFUSED") return failure.retryable && run.repairedTurn !== run.turn;
  const waitMaxMs = failure.code === "MODEL_CIRCUIT_OPEN" ? circuitWaitMaxMs : retryAfterMaxMs;
  return failure.retryable && (failure.retryAfterMs ?? 0) <= waitMaxMs && fact.attempt - handedOver < run.limits.attemptsMax;
}

/** Whether the fact sets the time when the next attempt may begin. */
export function waits({ run }: State, fact: FactOf<"wait.scheduled">): boolean {
  return run?.runId === fact.runId && run.retry !== undefined && run.turn === fact.turn && run.attempt === fact.attempt;
}

export function foldWait(state: State, fact: FactOf<"wait.scheduled">): State {
  const { run } = state;
  if (!run?.retry || !waits(state, fact)) return state;
  return { ...state, run: { ...run, retry: { ...run.retry, until: fact.until } } };
}

/** A newer owner puts every open intent in doubt. */
export function foldClaim(state: State, fact: FactOf<"owner.claimed">): State {
  const epoch = fact.epoch ?? 0;
  if (epoch <= state.epoch) return state;
  const { run } = state;
  if (!run) return { ...state, epoch };
  const calls = run.calls.some(isUnderWay) ? run.calls.map((call) => (isUnderWay(call) ? { ...call, inDoubt: true } : call)) : run.calls;
  return { ...state, epoch, run: { ...run, calls, ...(run.open ? { open: { ...run.open, inDoubt: true } } : {}) } };
}

const isUnderWay = (call: Call): boolean => call.stage === "started";

/** The open run stops; one that waits stops as soon as it starts. */
export function foldAbort(state: State, fact: FactOf<"abort.requested">): State {
  const abort: Abort = { reason: fact.reason, at: fact.at, ...(fact.by === undefined ? {} : { by: fact.by }) };
  const { run } = state;
  if (run?.runId === fact.runId) return run.abort ? state : { ...state, run: { ...run, abort } };
  if (!state.inputs.some((input) => input.runId === fact.runId && !input.abort)) return state;
  return { ...state, inputs: state.inputs.map((input) => (input.runId === fact.runId ? { ...input, abort } : input)) };
}

export function foldLimit(state: State, fact: FactOf<"limit.reached">): State {
  const { run } = state;
  if (run?.runId !== fact.runId || run.limit) return state;
  return { ...state, run: { ...run, limit: { which: fact.which, value: fact.value, turn: run.turn } } };
}

/** Whether the fact ends the open run: nothing of it may be under way. */
export function endsRun(state: State, fact: FactOf<"run.finished">): boolean {
  const { run } = state;
  return run?.runId === fact.runId && !run.open && run.calls.every((call) => call.stage === "settled");
}

/** Steered inputs that did not join get runs of their own, before those that were waiting, unless one of these interrupted. */
export function foldRunFinished(state: State, fact: FactOf<"run.finished">): State {
  const { run, ...rest } = state;
  if (!run || !endsRun(state, fact)) return state;
  const lastRun = endedRun(run, fact);
  return {
    ...rest,
    inputs: run.steered.length > 0 ? withInputs(state.inputs, run.steered, "first") : state.inputs,
    head: run.movedHead ?? run.tip,
    lastRun,
    ended: append(state.ended, lastRun),
  };
}

/** The state and its run with what a fact cost. Tokens without a known price make a known sum partial. */
export function spend(state: State, spent: { readonly usage?: Usage; readonly cost?: Cost }): State {
  if (!spent.usage && !spent.cost) return state;
  return { ...state, ...addSpent(state, spent), ...(state.run ? { run: { ...state.run, ...addSpent(state.run, spent) } } : {}) };
}
