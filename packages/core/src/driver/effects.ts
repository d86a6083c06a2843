/*
 * Owns: the effects under way in this process: launching, signalling, handing in their closing facts.
 * Does not own: what is owed (plan), what is recorded (the driver).
 */
import type { HookContext } from "../agent/hooks.ts";
import { type AgentError, type Failure, failureOf } from "../errors.ts";
import { closeCall, interrupted } from "../loop/closing-results.ts";
import type { Effect } from "../loop/effect.ts";
import type { BodyOf, Fact, FactBody } from "../loop/fact.ts";
import type { Run, State } from "../loop/state.ts";
import type { ModelRequest } from "../ports/model-provider.ts";
import type { RequestBuilder } from "../prompt/request-builder.ts";
import { withStoredMedia } from "../prompt/stored-media.ts";
import { toolFailure } from "../tools/tool-failure.ts";
import type { ToolRegistry } from "../tools/tool-registry.ts";
import type { Deps } from "./deps.ts";
import type { Hub, Lane } from "./hub.ts";
import { type LookupEffect, lookUpCall } from "./look-up-call.ts";
import { follow, type Maybe } from "./maybe.ts";
import { startModelCall } from "./model-call.ts";
import { createPatience, type Patience } from "./patience.ts";
import { closeModel, type PreparedModel, prepareModel } from "./prepare-model.ts";
import { type PreparedTool, prepareTool } from "./prepare-tool.ts";
import { reviewResult } from "./review-result.ts";
import { driverLimits } from "./session-options.ts";
import { startToolCall } from "./tool-call.ts";

/** An effect that may be recorded, and what to do once it is. */
export interface Prepared {
  readonly bodies: readonly FactBody[];
  /** Given the fact of the first body and the state that has it. */
  readonly launch?: (intent: Fact | undefined, state: State) => void;
}

export interface Effects {
  /** Asks what an owed effect is to be. User code is asked with `patience`. */
  readonly prepare: (effect: Effect, state: State, patience: Patience) => Maybe<Prepared>;
  isRunning(effectId: string): boolean;
  readonly count: number;
  /** Signals what the state wants no longer: effects of an aborted run, with its grace, and of a run that is over. */
  heed(state: State): void;
  /** Signals everything and forgets it: nothing is handed in any more. */
  forget(): void;
}

/** An effect under way. */
interface Work {
  readonly abort: (graceMs: number) => void;
  readonly closing: Promise<FactBody>;
  /** The closing fact when making the proper one failed: a bug of ours ends the effect, never hangs the run. */
  readonly broken: (failure: Failure) => FactBody;
  readonly lane?: Lane;
}

interface Running extends Work {
  readonly runId: string;
  /** It has ended by itself; its closing fact is on the way. */
  isOver: boolean;
}

type Track = (effect: { readonly id: string; readonly runId: string }, work: Work) => void;

export interface EffectsOptions {
  readonly deps: Deps;
  readonly registry: ToolRegistry;
  readonly builder: RequestBuilder;
  readonly hub: Hub;
  /** The newest adopted state. */
  readonly current: () => State;
  /** Hands a closing fact in; resolves when it is recorded or void. */
  readonly close: (body: FactBody) => Promise<void>;
}

export function createEffects(options: EffectsOptions): Effects {
  const running = new Map<string, Running>();
  let generation = 0;

  /** Tracks an effect until its closing fact is handed in; one that was forgotten hands in nothing. */
  const track: Track = ({ id, runId }, work) => {
    const born = generation;
    const entry: Running = { ...work, runId, isOver: false };
    running.set(id, entry);
    void work.closing
      .catch((error: unknown) => work.broken(failureOf(error)))
      .then(async (body) => {
        entry.isOver = true;
        if (born !== generation) return;
        await options.close(body);
        work.lane?.close();
        if (born === generation) running.delete(id);
      });
  };

  const prepare = (effect: Effect, state: State, patience: Patience): Maybe<Prepared> => {
    switch (effect.type) {
      case "open-run":
        return { bodies: [openRun(options, effect)] };
      case "schedule-retry":
        return { bodies: [scheduleRetry(options.deps, effect)] };
      case "call-model":
        return prepareCall(options, effect, { state, patience, track });
      case "run-tool":
        return prepareRun(options, effect, { state, patience, track });
      case "lookup-tool":
        return { bodies: [], launch: () => launchLookup(options, effect, track) };
      default:
        return effect satisfies never;
    }
  };

  return {
    prepare,
    isRunning: (id) => running.has(id),
    get count() {
      return running.size;
    },
    heed({ run }) {
      for (const { runId, abort, isOver } of running.values()) {
        if (isOver) continue;
        if (run?.runId !== runId) abort(0);
        else if (run.abort) abort(run.limits.abortGraceMs);
      }
    },
    forget() {
      generation++;
      for (const { abort, lane } of running.values()) {
        lane?.close();
        abort(0);
      }
      running.clear();
    },
  };
}

interface Scene {
  readonly state: State;
  readonly patience: Patience;
  readonly track: Track;
}

function contextOf(
  { agent, access, sessionId }: Deps,
  { run, turn }: { readonly run: Run; readonly turn: number },
  patience: Patience,
): HookContext {
  const signal = agent.hooks.length > 0 ? patience.signal : neverAborted;
  return { sessionId, runId: run.runId, turn, access: run.access ?? access, agent: agent.name, signal };
}

const neverAborted = new AbortController().signal;

const rethrow = (error: AgentError): never => {
  throw error;
};

function openRun({ deps: { agent, agentDigest }, registry }: EffectsOptions, { input }: Extract<Effect, { type: "open-run" }>): FactBody {
  return {
    type: "run.started",
    runId: input.runId,
    agent: agent.name,
    agentDigest,
    provider: agent.provider.name,
    model: input.options?.model ?? agent.model,
    tools: registry.policies(),
    limits: agent.limits,
  };
}

/** Full jitter, but never before the moment the vendor asked for. */
function scheduleRetry({ clock, ids }: Deps, effect: Extract<Effect, { type: "schedule-retry" }>): FactBody {
  const { runId, turn, attempt, failure } = effect;
  const spreadMs = Math.min(driverLimits.retryCapMs, driverLimits.retryBaseMs * 2 ** attempt);
  const waitMs = Math.round((failure.retryAfterMs ?? 0) + ids.random() * spreadMs);
  return { type: "wait.scheduled", runId, turn, attempt, until: clock.now() + waitMs, reason: failure.code };
}

function prepareCall(options: EffectsOptions, effect: Extract<Effect, { type: "call-model" }>, scene: Scene): Maybe<Prepared> {
  const { deps, builder, registry } = options;
  const { agent } = deps;
  const run = scene.state.run as Run;
  const context = contextOf(deps, { run, turn: effect.turn }, scene.patience);
  const { messages } = builder.follow(scene.state);
  const ready = (prepared: PreparedModel): Prepared => ({
    bodies: [prepared.intent],
    launch: (intent, state) => launchModel(options, { prepared, effect, intent, state, track: scene.track }),
  });
  const failed = (error: unknown): Prepared => {
    const { runId, turn, attempt } = effect;
    const who = { provider: agent.provider.name, model: run.model, requestDigest: "" };
    const failure: Failure = { ...failureOf(error), retryable: false };
    return {
      bodies: [
        { type: "model.started", runId, turn, attempt, ...who },
        { type: "model.failed", runId, turn, attempt, failure },
      ],
    };
  };
  try {
    const prepared = scene.patience.waitFor(prepareModel(effect, { agent, registry, run, context, messages }), rethrow);
    return prepared instanceof Promise ? prepared.then(ready, failed) : ready(prepared);
  } catch (error) {
    return failed(error);
  }
}

interface Launch extends Pick<Scene, "track" | "state"> {
  readonly prepared: PreparedModel;
  readonly effect: Extract<Effect, { type: "call-model" }>;
  readonly intent: Fact | undefined;
}

function launchModel({ deps, builder, hub, close, current }: EffectsOptions, { prepared, effect, intent, state, track }: Launch): void {
  const { agent, clock } = deps;
  const { runId, turn, attempt } = effect;
  const run = state.run;
  if (!run || !intent) return;
  const built = builder.build(state, agent.provider.capabilities(prepared.request.model).contextTokens);
  if (!built.messages) {
    const message = built.failed ? "The conversation does not fit the model's window." : "There is nothing to answer.";
    const failure: Failure = { code: built.failed ? "CONTEXT_OVERFLOW" : "INTERNAL", message, retryable: false };
    return void close({ type: "model.failed", runId, turn, attempt, failure });
  }
  const request: ModelRequest = { ...prepared.request, messages: built.messages };
  const call = startModelCall({
    provider: built.hasStoredMedia ? withStoredMedia(agent.provider, (key) => deps.store.blobs.get(deps.ref.scope, key)) : agent.provider,
    request,
    attempt,
    callKeyPrefix: `${runId}.${turn}`,
    clock,
    deadlines: agent.deadlines,
    filter: prepared.filter,
    lane: () => lane,
  });
  const lane = hub.openLane({ id: intent.seq, runId, snapshot: () => ({ type: "message_snapshot", content: call.partial() }) });
  const patience = createPatience(clock);
  const context = contextOf(deps, { run, turn }, patience);
  const closing = call.end.then((end) => {
    const scene = { run, context, messages: builder.follow(current()).messages, at: clock.now() };
    // Without an answer of the hooks the message is kept, and the run ends as it does after a hook that threw.
    const { prices: _, ...free } = agent;
    return patience.waitFor(closeModel(prepared, end, { ...scene, agent }), (error) =>
      closeModel(prepared, end, { ...scene, agent: { ...free, hooks: [{ decide: () => rethrow(error) }] } }),
    );
  });
  const abort = (graceMs: number): void => {
    call.abort();
    patience.abort(graceMs);
  };
  const broken = (failure: Failure): FactBody => ({ type: "model.failed", runId, turn, attempt, failure });
  track(effect, { abort, closing, broken, lane });
}

function prepareRun(options: EffectsOptions, effect: Extract<Effect, { type: "run-tool" }>, scene: Scene): Maybe<Prepared> {
  const { deps, registry } = options;
  const { agent } = deps;
  const run = scene.state.run as Run;
  const context = contextOf(deps, { run, turn: effect.turn }, scene.patience);
  const { callKey, name } = effect.call.part;
  const giveUp = (error: AgentError): PreparedTool => ({
    instead: { type: "tool.finished", runId: run.runId, callKey, ...toolFailure(error, { name }) },
  });
  const prepared = scene.patience.waitFor(prepareTool(effect, { agent, registry, run, context, clock: deps.clock }), giveUp);
  return follow(
    prepared,
    (tool): Prepared =>
      tool.instead
        ? { bodies: [tool.instead] }
        : { bodies: [tool.intent], launch: (fact) => launchTool(options, { effect, prepared: tool, run, fact, track: scene.track }) },
  );
}

interface ToolLaunch extends Pick<Scene, "track"> {
  readonly effect: Extract<Effect, { type: "run-tool" }>;
  readonly prepared: Extract<PreparedTool, { readonly instead?: never }>;
  readonly run: Run;
  readonly fact: Fact | undefined;
}

function launchTool(options: EffectsOptions, { effect, prepared, run, fact, track }: ToolLaunch): void {
  const { deps, hub, builder } = options;
  const { agent } = deps;
  if (!fact) return;
  const { tool, args } = prepared;
  const { part } = effect.call;
  const lane = hub.openLane({
    id: fact.seq,
    runId: run.runId,
    snapshot() {
      const progress = call.steps();
      const base = { type: "tool_execution_snapshot", toolCallId: part.id, callKey: part.callKey, output: call.partial() } as const;
      return progress.length === 0 ? base : { ...base, progress };
    },
  });
  const call = startToolCall({
    tool,
    part,
    args,
    attempt: effect.attempt,
    timeoutMs: run.tools[tool.name]?.timeoutMs ?? 0,
    clock: deps.clock,
    logger: deps.logger,
    access: run.access ?? deps.access,
    session: { id: deps.sessionId, messages: () => [...builder.follow(options.current()).messages] },
    files: agent.files,
    resources: agent.resources,
    lane: () => lane,
  });
  const patience = createPatience(deps.clock);
  const closing = call.end.then(async ({ result, progress, usage, durationMs }): Promise<BodyOf<"tool.finished">> => {
    const review = reviewResult(result, { agent, context: { ...contextOf(deps, { run, turn: effect.turn }, patience), call: part, tool } });
    const reviewed = await patience.waitFor(review, (error) => toolFailure(error, tool));
    const more = { ...(progress.length > 0 ? { progress } : {}), ...(usage ? { usage } : {}), durationMs };
    return { type: "tool.finished", runId: run.runId, callKey: part.callKey, ...reviewed, ...more };
  });
  const broken = ({ code, message }: Failure): FactBody => closeCall(run.runId, effect.call, { outcome: "error", code, text: message });
  const abort = (graceMs: number): void => {
    call.abort(graceMs);
    patience.abort(graceMs);
  };
  track(effect, { abort, closing, broken, lane });
}

function launchLookup({ deps, registry }: EffectsOptions, effect: LookupEffect, track: Track): void {
  const patience = createPatience(deps.clock);
  const broken = (): FactBody => interrupted(effect.runId, effect.call);
  const closing = Promise.resolve(patience.waitFor(lookUpCall(registry, effect, patience.signal), broken));
  track(effect, { abort: () => patience.abort(0), closing, broken });
}
