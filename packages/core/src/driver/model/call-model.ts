/*
 * Owns: the effect `call-model`: its intent, and its way from the launch to its closing fact. Does not own: the request (prepare-model), the stream
 * (model-call).
 */
import { type AgentError, type Failure, failureOf } from "../../errors.ts";
import type { Effect } from "../../loop/effect.ts";
import type { Fact, FactBody } from "../../loop/fact.ts";
import type { Run, State } from "../../loop/state.ts";
import { mayRetry } from "../../loop/turns.ts";
import type { Message } from "../../message/message.ts";
import type { Blob } from "../../ports/blob-store.ts";
import type { ModelRequest } from "../../ports/model-provider.ts";
import { lengthBesideMessages } from "../../prompt/message-length.ts";
import { holdsOpaque } from "../../prompt/opaque-content.ts";
import type { BuiltHistory } from "../../prompt/request-builder.ts";
import { withStoredMedia } from "../../prompt/stored-media.ts";
import { contextOf, type EffectsOptions, type LaunchState, type Prepared, type Scene } from "../effects/effect-scene.ts";
import type { Maybe } from "../effects/maybe.ts";
import { createPatience } from "../effects/patience.ts";
import { noteShown } from "../effects/shown-tools.ts";
import { userFilterOf } from "../effects/user-filter.ts";
import type { Deps } from "../setup/deps.ts";
import { storeError } from "../setup/session-errors.ts";
import { internalError } from "../setup/user-code.ts";
import { withoutVision } from "./check-vision.ts";
import { closeModel, stoppedModel } from "./close-model.ts";
import { createChunkFilter } from "./filter-chunks.ts";
import { type ModelCallEnd, startModelCall } from "./model-call.ts";
import { type PreparedModel, prepareModel } from "./prepare-model.ts";

/** The intent of a model call that is owed. */
export function prepareCall(options: EffectsOptions, effect: Extract<Effect, { type: "call-model" }>, scene: Scene): Maybe<Prepared> {
  const { deps, builder } = options;
  const { agent, registry } = deps.bound;
  const run = scene.state.run as Run;
  const context = contextOf(deps, { run, turn: effect.turn }, scene.patience);
  const messages = (): readonly Message[] => builder.messagesAt(scene.state);
  const ready = (prepared: PreparedModel): Prepared => ({
    bodies: [prepared.intent],
    launch: (intent, now) => launchModel(options, { prepared, effect, intent, ...now, track: scene.track }),
  });
  const failed = (error: unknown): Prepared => {
    const { runId, turn, attempt } = effect;
    const who = { provider: agent.provider.name, model: run.model, requestDigest: "" };
    const failure: Failure = { ...failureOf(internalError(deps, "A model call could not be prepared", error)), retryable: false };
    return {
      bodies: [
        { type: "model.started", runId, turn, attempt, ...who },
        { type: "model.failed", runId, turn, attempt, failure },
      ],
    };
  };
  try {
    const prepared = scene.patience.waitFor(prepareModel(effect, { agent, reports: deps, registry, run, context, messages }), rethrow);
    return prepared instanceof Promise ? prepared.then(ready, failed) : ready(prepared);
  } catch (error) {
    return failed(error);
  }
}

interface Launch extends Pick<Scene, "track">, LaunchState {
  readonly prepared: PreparedModel;
  readonly effect: Extract<Effect, { type: "call-model" }>;
  readonly intent: Fact | undefined;
}

function launchModel(options: EffectsOptions, { prepared, effect, intent, state, isStopped, track }: Launch): void {
  const { deps, builder, hub, close, current, shown } = options;
  const { bound, clock } = deps;
  const { agent } = bound;
  const { runId, turn, attempt } = effect;
  const run = state.run;
  if (!run || !intent) return;
  if (isStopped) return void close(stoppedModel(prepared));
  noteShown(shown, run, prepared.registry);
  const fail = (failure: Failure): void => void close({ type: "model.failed", runId, turn, attempt, failure });
  const built = builtOrFailed(options, state, prepared.request);
  if ("failure" in built) {
    fail(built.failure);
    return;
  }
  const request: ModelRequest = { ...prepared.request, messages: built.messages };
  const admitted = deps.callGuard.admit({ scope: deps.ref.scope, provider: agent.provider.name, model: request.model }, attempt);
  if ("refused" in admitted) {
    fail(admitted.refused);
    return;
  }
  const guarded = admitted.call;
  const patience = createPatience(clock);
  const context = contextOf(deps, { run, turn }, patience);
  const filter = userFilterOf(agent, context, deps);
  const call = startModelCall({
    provider: built.hasStoredMedia ? withStoredMedia(agent.provider, (key) => loadBlob(deps, key)) : agent.provider,
    request,
    attempt,
    callKeyPrefix: `${runId}.${turn}`,
    clock,
    deadlines: agent.deadlines,
    filter: filter && createChunkFilter(filter),
    broken: (error) => internalError(deps, `The provider \`${agent.provider.name}\` failed in an unexpected way`, error),
    lane: () => lane,
    onAnswer: guarded.answered,
  });
  const lane = hub.openLane({ id: intent.seq, runId, isAnswer: true, snapshot: () => call.snapshot() });
  let isHandedOver = false;
  const closing = call.end.then((ended) => {
    const end = judged(ended, (said) => {
      const failure = repairable(said, request.messages);
      return guarded.judge(failure, !isHandedOver && mayRetry(run, { attempt, failure }));
    });
    reportVendor(deps, effect, end);
    if (end.type === "aborted") guarded.left();
    else if (end.type === "finished") guarded.answered();
    const scene = { reports: deps, run, context, messages: () => builder.messagesAt(current()), at: clock.now() };
    const left: ModelCallEnd = { ...end, type: "failed", failure: handedOver, parts: [] };
    // An abort is answered where it reached the call.
    if (isHandedOver && end.type !== "finished" && !current().run?.abort) return closeModel(prepared, left, { ...scene, agent });
    // Without an answer of the hooks the message is kept, and the run ends as it does after a hook that threw.
    const { prices: _, ...free } = agent;
    return patience.waitFor(closeModel(prepared, end, { ...scene, agent }), (error) => {
      if (isHandedOver) return closeModel(prepared, left, { ...scene, agent: free });
      return closeModel(prepared, end, { ...scene, agent: { ...free, hooks: [{ decide: () => rethrow(error) }] } });
    });
  });
  const abort = (graceMs: number): void => {
    call.abort();
    patience.abort(graceMs);
  };
  const handOver = (): void => {
    isHandedOver = true;
    abort(0);
  };
  const broken = (failure: Failure): FactBody => ({ type: "model.failed", runId, turn, attempt, failure });
  track(effect, { abort, handOver, closing, broken, lane });
}

/** The history of the request, or why there is none. */
function builtOrFailed(
  { deps, builder }: EffectsOptions,
  state: State,
  request: PreparedModel["request"],
): Extract<BuiltHistory, { readonly messages: readonly Message[] }> | { readonly failure: Failure } {
  const { model } = request;
  try {
    const { contextTokens, vision } = deps.bound.agent.provider.capabilities(model);
    const built = builder.build(state, contextTokens, lengthBesideMessages(request));
    if (built.messages) return built.hasImages && !vision ? { failure: failureOf(withoutVision(model)) } : built;
    const message = built.failed ? "The conversation does not fit the model's window." : "There is nothing to answer.";
    return { failure: { code: built.failed ? "CONTEXT_OVERFLOW" : "INTERNAL", message, retryable: false } };
  } catch (error) {
    return { failure: failureOf(internalError(deps, "The request could not be built", error)) };
  }
}

async function loadBlob({ store, ref }: Deps, key: string): Promise<Blob | undefined> {
  try {
    return await store.blobs.get(ref.scope, key, ref);
  } catch (error) {
    throw storeError(error);
  }
}

/** The end with its failure as it is to be recorded. */
function judged(end: ModelCallEnd, judge: (failure: Failure) => Failure): ModelCallEnd {
  return end.type === "failed" ? { ...end, failure: judge(end.failure) } : end;
}

/** Tells operators what a vendor said of a call that it refused; callers get our own words. */
function reportVendor({ logger, sessionId }: Deps, { runId, turn, attempt }: Launch["effect"], end: ModelCallEnd): void {
  if (end.type !== "failed" || end.vendorSaid === undefined) return;
  const { failure, vendorSaid } = end;
  const fields = { code: failure.code, session: sessionId, runId, turn, attempt, error: failure.message, vendorSaid };
  logger.log("warn", "A vendor answered a model call with an error.", fields);
}

/** A request without thinking cannot be repaired by leaving thinking out. */
function repairable(failure: Failure, messages: readonly Message[]): Failure {
  if (failure.code !== "MODEL_THINKING_REFUSED" || messages.some(holdsOpaque)) return failure;
  return { ...failure, retryable: false };
}

/** What an attempt is closed with that another node is to make again. */
const handedOver: Failure = {
  code: "HANDED_OVER",
  message: "The process that made this attempt gave the run to another one.",
  retryable: true,
};

const rethrow = (error: AgentError): never => {
  throw error;
};
