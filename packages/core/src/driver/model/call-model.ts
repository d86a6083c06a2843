/*
 * Owns: the effect `call-model`: its intent, and the steps from its launch to its closing fact.
 * Does not own: the request (prepare-model-call), the stream (model-attempt).
 */
import { AgentError, type Failure, failureOf } from "../../errors.ts";
import type { Effect } from "../../loop/effect.ts";
import type { Fact, FactBody } from "../../loop/fact.ts";
import { timeLeft } from "../../loop/reached-limit.ts";
import { mayRetry } from "../../loop/retry/may-call-model-again.ts";
import type { Run } from "../../loop/state.ts";
import type { Message } from "../../message/message.ts";
import type { Blob } from "../../ports/blob-store.ts";
import type { CallTarget, GuardedCall } from "../../ports/call-guard.ts";
import type { ModelRequest } from "../../ports/model-provider.ts";
import { holdsOpaque } from "../../prompt/opaque-content.ts";
import { withStoredMedia } from "../../prompt/stored-media.ts";
import { askingOf, contextOf, type EffectDeps, type LaunchState, type PreparationDeps, type Prepared } from "../effects/effect-deps.ts";
import { chosenModel, type EndedAttempt, exhausted, hasNextModel, movedOn, nextModel } from "../effects/fallback-model.ts";
import { holdsTurns, userFilterOf } from "../effects/filter-hook.ts";
import { andThen, type SyncOrAsync } from "../effects/sync-or-async.ts";
import { noteShown } from "../effects/tools-shown-to-model.ts";
import { createUserCodeTimeout } from "../effects/user-code-timeout.ts";
import type { Deps } from "../setup/session-deps.ts";
import { storeError } from "../setup/session-errors.ts";
import { internalError } from "../setup/user-code-errors.ts";
import { type Admission, type Admitted, admitCall, type CallExtras } from "./admit-model-call.ts";
import { closeModel, stoppedModel } from "./close-model-call.ts";
import type { SummaryCalls } from "./context-summary-calls.ts";
import { countedEnd } from "./expected-usage.ts";
import { createChunkFilter } from "./filter-model-chunks.ts";
import { type ModelAttemptEnd, startModelAttempt, type TimeCut } from "./model-attempt.ts";
import { type PreparedModel, prepareModel, type StoppedBefore } from "./prepare-model-call.ts";

interface CallPreparation extends PreparationDeps, CallExtras {}

/** Prepares the intent of a planned model call, and its launch. */
export function prepareCall(
  options: EffectDeps,
  effect: Extract<Effect, { type: "call-model" }>,
  setup: CallPreparation,
): SyncOrAsync<Prepared> {
  const { deps, builder, session } = options;
  const { agent, registry } = deps.bound;
  let summaries: SummaryCalls | undefined;
  const run = setup.state.run as Run;
  const context = contextOf(deps, { run, turn: effect.turn }, setup.timeout);
  const messages = (): readonly Message[] => builder.messagesAt(setup.state);
  const asking = askingOf(options, context, run);
  const begun = (admitted: Admission): SyncOrAsync<Prepared> => {
    if ("refused" in admitted) return { bodies: admitted.refused };
    const { bodies, prepared } = admitted;
    const target = targetOf(deps, run, prepared);
    return andThen(deps.callGuard.prepare?.(target), () => ({
      bodies,
      launch: (intent, now) => launchModel(options, { ...setup, prepared, effect, intent, admitted, target, ...now }),
    }));
  };
  const ready = (prepared: PreparedModel | StoppedBefore): SyncOrAsync<Prepared> => {
    if (prepared.instead) return { bodies: [prepared.instead] };
    const onSummaries = (calls: SummaryCalls): void => {
      summaries = calls;
    };
    const admission = admitCall(deps, { ...setup, builder, session, onSummaries }, { effect, prepared, context, state: setup.state });
    const prepares = andThen(admission, begun);
    return prepares instanceof Promise ? setup.timeout.waitFor(prepares.catch(failed), failed) : prepares;
  };
  const failed = (error: unknown): Prepared => {
    const { runId, turn, attempt } = effect;
    const { provider, model } = chosenModel(agent, run);
    const who = { provider: provider.name, model, requestDigest: "" };
    const failure: Failure = { ...failureOf(internalError(deps, "A model call could not be prepared", error)), retryable: false };
    return {
      bodies: [
        ...(summaries?.lost() ?? []),
        { type: "model.started", runId, turn, attempt, ...who },
        { type: "model.failed", runId, turn, attempt, failure },
      ],
    };
  };
  try {
    const prepared = setup.timeout.waitFor(
      prepareModel(effect, { agent, reports: deps, registry, run, context, asking, messages, resolveModel: deps.resolveModel }),
      rethrow,
    );
    return prepared instanceof Promise ? prepared.then(ready, failed) : ready(prepared);
  } catch (error) {
    return failed(error);
  }
}

interface Launch extends Pick<CallPreparation, "track" | "fitting">, LaunchState {
  readonly target: CallTarget;
  readonly admitted: Admitted;
  readonly prepared: PreparedModel;
  readonly effect: Extract<Effect, { type: "call-model" }>;
  readonly intent: Fact | undefined;
}

function launchModel(options: EffectDeps, launch: Launch): void {
  const { prepared, effect, intent, state, track, fitting } = launch;
  const { reservation, expected } = launch.admitted;
  const { deps, builder, hub, session } = options;
  const { bound, clock } = deps;
  const { agent } = bound;
  const { runId, turn, attempt } = effect;
  const run = state.run;
  if (!run || !intent) return;
  const { provider } = prepared;
  const sending = sendingCall(options, launch, run);
  if ("unsent" in sending) {
    reservation?.release();
    return void session.close(sending.unsent);
  }
  reservation?.sent();
  const { request, guarded, hasStoredMedia } = sending;
  const timeout = createUserCodeTimeout(clock);
  const context = contextOf(deps, { run, turn }, timeout);
  const filter = userFilterOf(agent, context, deps);
  const call = startModelAttempt({
    provider: hasStoredMedia ? withStoredMedia(provider, (key) => loadBlob(deps, key)) : provider,
    request,
    attempt,
    callKeyPrefix: `${runId}.${turn}`,
    clock,
    deadlines: agent.deadlines,
    cut: cutOf(run, clock.now(), request.tools !== undefined),
    filter: filter && createChunkFilter(filter),
    isHeld: holdsTurns(agent),
    broken: (error) => internalError(deps, `The provider \`${provider.name}\` failed in an unexpected way`, error),
    lane: () => lane,
    onAnswer: guarded.answered,
  });
  const lane = hub.openLane({ id: intent.seq, runId, isAnswer: true, snapshot: () => call.snapshot() });
  let isHandedOver = false;
  const close = (ended: ModelAttemptEnd): SyncOrAsync<FactBody> => {
    const end = judged(ended, (given) => {
      const failure = fitting.repairable(repairable(given, request.messages), launch);
      const asked = { attempt, failure, hasSpoken: hasSpoken(ended), isResolved: prepared.isResolved };
      return isHandedOver ? { failure: guarded.judge(failure, false) } : afterJudgement(guarded, run, asked);
    });
    reportVendor(deps, effect, end);
    if (end.type === "aborted" || end.isCut) guarded.left();
    else if (end.type === "finished") guarded.answered();
    const asking = askingOf(options, context, session.state.run ?? run);
    const setup = { reports: deps, run, asking, messages: () => builder.messagesAt(session.state), at: clock.now() };
    const left: ModelAttemptEnd = { ...end, type: "failed", failure: handedOver, parts: [] };
    // An abort ends the call at the step that it reached.
    if (isHandedOver && end.type !== "finished" && !session.state.run?.abort) return closeModel(prepared, left, { ...setup, agent });
    // If the hooks do not answer, the message is kept, and the run ends as after a hook that threw.
    const { prices: _, ...free } = agent;
    return timeout.waitFor(closeModel(prepared, end, { ...setup, agent }), (error) => {
      if (isHandedOver) return closeModel(prepared, left, { ...setup, agent: free });
      return closeModel(prepared, end, { ...setup, agent: { ...free, hooks: [{ name: "timeout", decide: () => rethrow(error) }] } });
    });
  };
  const closing = call.end.then((seen) => {
    const ended = expected ? countedEnd(seen, expected) : seen;
    const body = close(ended);
    return reservation ? andThen(body, (known) => reservation.settled(ended, known)) : body;
  });
  const abort = (graceMs: number): void => {
    call.abort();
    timeout.abort(graceMs);
  };
  const handOver = (): void => {
    isHandedOver = true;
    abort(0);
  };
  track(effect, { abort, handOver, closing, lane, broken: (failure) => ({ type: "model.failed", runId, turn, attempt, failure }) });
}

/** The failure to record, as the guard of the process judges it. If the guard allows this model no further attempt, the next model may be asked. */
function afterJudgement(guarded: GuardedCall, run: Run, asked: EndedAttempt): { readonly failure: Failure; readonly isSpent?: true } {
  const { attempt, failure } = asked;
  if (nextModel(run, asked)) return { failure: guarded.judge(failure, false) };
  const again = mayRetry(run, asked);
  const known = guarded.judge(failure, again);
  if (again && mayRetry(run, { attempt, failure: known })) return { failure: known };
  return again && nextModel(run, { ...asked, isSpent: true }) ? { failure, isSpent: true } : { failure: exhausted(run, known) };
}

/** The description of the call for the guard of the process. */
function targetOf({ ref }: Deps, run: Run, { provider, request, key, isResolved }: PreparedModel): CallTarget {
  return {
    ...{ scope: ref.scope, provider: provider.name, model: request.model, hasNext: hasNextModel(run, { isResolved }) },
    ...(key === undefined ? {} : { key }),
  };
}

/** True if a part of a failed attempt was published. */
const hasSpoken = (end: ModelAttemptEnd): boolean => end.type === "failed" && end.parts.length > 0;

interface SendingCall {
  readonly request: ModelRequest;
  readonly hasStoredMedia: boolean;
  readonly guarded: GuardedCall;
}

/**
 * The time after which the run's limit of time ends a call that starts now. The last call of a run may take as long as the whole limit once more. The
 * text that was written before that end is kept as the answer if the call has no tools, or if no other call may follow.
 */
function cutOf(run: Run, now: number, hasTools: boolean): TimeCut | undefined {
  const { durationMs, onLimit } = run.limits;
  const left = timeLeft(run, now);
  if (left === undefined) return undefined;
  const error = new AgentError("LIMIT_REACHED", {
    message: `The run reached its limit of ${durationMs} milliseconds while the model answered.`,
    retryable: false,
  });
  const afterMs = run.limit ? Math.max(durationMs, lastAnswerMsMin) : Math.max(1, left);
  return { afterMs, error, keepsText: !hasTools || onLimit !== "finalize" };
}

/** The least time for a last answer. */
const lastAnswerMsMin = 30_000;

/** The request that may be sent now, or the closing fact of an attempt whose request is not sent. */
function sendingCall(options: EffectDeps, launch: Launch, run: Run): SendingCall | { readonly unsent: FactBody } {
  const { prepared, effect, isStopped, state, admitted, fitting } = launch;
  const { deps, shown } = options;
  if (isStopped) return { unsent: stoppedModel(prepared) };
  noteShown(shown, run, prepared.registry);
  const fitted = fitting.fitted({ run, state, ...admitted });
  if ("failure" in fitted) return { unsent: failedUnsent(launch, run, fitted.failure) };
  const { hasStoredMedia, hasMedia: _, ...sent } = fitted;
  const request: ModelRequest = { ...prepared.request, ...sent };
  const guard = deps.callGuard.admit(launch.target, effect.attempt);
  if ("refused" in guard) return { unsent: failedUnsent(launch, run, guard.refused) };
  return { request, hasStoredMedia, guarded: guard.call };
}

/** The closing fact of an attempt that never reached the vendor. */
function failedUnsent({ effect, prepared }: Launch, run: Run, failure: Failure): FactBody {
  const { runId, turn, attempt } = effect;
  const asked = { attempt, failure, hasSpoken: false, isResolved: prepared.isResolved };
  const next = nextModel(run, asked);
  if (next) return { type: "model.failed", runId, turn, attempt, ...movedOn(failure, next) };
  return { type: "model.failed", runId, turn, attempt, failure: mayRetry(run, asked) ? failure : exhausted(run, failure) };
}

async function loadBlob({ store, ref }: Deps, key: string): Promise<Blob | undefined> {
  try {
    return await store.blobs.get(ref.scope, key, ref);
  } catch (error) {
    throw storeError(error);
  }
}

/** The end with the failure that `judge` returns. An end by the limit of time stays as it is, because it is no failure of the vendor. */
function judged(
  end: ModelAttemptEnd,
  judge: (failure: Failure) => { readonly failure: Failure; readonly isSpent?: true },
): ModelAttemptEnd {
  return end.type === "failed" && !end.isCut ? { ...end, ...judge(end.failure) } : end;
}

/** Logs the vendor's own message about a refused call for operators; callers get a message of core. */
function reportVendor({ logger, sessionId }: Deps, { runId, turn, attempt }: Launch["effect"], end: ModelAttemptEnd): void {
  if (end.type !== "failed" || end.vendorMessage === undefined) return;
  const { failure, vendorMessage } = end;
  const fields = { code: failure.code, session: sessionId, runId, turn, attempt, error: failure.message, vendorMessage };
  logger.log("warn", "A vendor answered a model call with an error.", fields);
}

/** The failure. If the vendor refused thinking although the request had none, it is not retryable: a retry would send the same request. */
function repairable(failure: Failure, messages: readonly Message[]): Failure {
  if (failure.code !== "MODEL_THINKING_REFUSED" || messages.some(holdsOpaque)) return failure;
  return { ...failure, retryable: false };
}

/** The failure of an attempt that another node repeats. */
const handedOver: Failure = {
  code: "HANDED_OVER",
  message: "The process that made this attempt gave the run to another process.",
  retryable: true,
};

const rethrow = (error: AgentError): never => {
  throw error;
};
