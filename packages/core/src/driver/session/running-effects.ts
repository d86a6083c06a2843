/*
 * Owns: the effects that run in this process: their launch, their abort signals, their closing facts.
 * Does not own: which effects are needed (plan), what is recorded (the driver).
 */
import type { Agent } from "../../agent/agent.ts";
import { type Failure, failureOf } from "../../errors.ts";
import type { Effect } from "../../loop/effect.ts";
import type { BodyOf, FactBody, RunBudget } from "../../loop/fact.ts";
import { interrupted } from "../../loop/results-without-run.ts";
import type { Run, State } from "../../loop/state.ts";
import { shareLeft } from "../children/child-budget-share.ts";
import { createRunWatch } from "../effects/call-run-end-hooks.ts";
import {
  askingOf,
  contextOf,
  type EffectDeps,
  type PreparationDeps,
  type Prepared,
  type Track,
  type Work,
} from "../effects/effect-deps.ts";
import { chainOf } from "../effects/fallback-model.ts";
import { runStartHooks, startsRuns } from "../effects/run-hook.ts";
import type { SyncOrAsync } from "../effects/sync-or-async.ts";
import { shownTools } from "../effects/tools-shown-to-model.ts";
import { createUserCodeTimeout, type UserCodeTimeout } from "../effects/user-code-timeout.ts";
import type { CallExtras } from "../model/admit-model-call.ts";
import { prepareCall } from "../model/call-model.ts";
import { RequestFitting } from "../model/fit-request-to-window.ts";
import { loadedReservations } from "../model/lazy-reservations.ts";
import { loadedCounts } from "../model/lazy-token-counts.ts";
import { ObservedLaunches } from "../observation/observe-effects.ts";
import { driverLimits } from "../setup/driver-limits.ts";
import type { Deps } from "../setup/session-deps.ts";
import { internalError } from "../setup/user-code-errors.ts";
import { prepareGates } from "../tools/gate-client-calls.ts";
import { type LookupEffect, lookUpCall } from "../tools/look-up-interrupted-call.ts";
import { prepareRun } from "../tools/run-tool.ts";

export interface Effects {
  /** Prepares a planned effect. User code is called with `timeout`. */
  readonly prepare: (effect: Effect, state: State, timeout: UserCodeTimeout) => SyncOrAsync<Prepared>;
  isRunning(effectId: string): boolean;
  count(): number;
  /** Signals the effects that the state no longer needs: those of an aborted run, with its grace period, and those of a run that has ended. */
  onState(state: State): void;
  /** Signals all effects for a hand-over. The closing facts of those that end by themselves are still recorded. */
  handOver(): void;
  /** Signals all effects and drops them: none of their closing facts is recorded. */
  forget(): void;
}

interface Running extends Work {
  readonly runId: string;
  /** True if the effect has ended, by itself, after an abort or for a hand-over. Its closing fact, if it has one, is being recorded. */
  isOver: boolean;
}

export function createEffects(given: Omit<EffectDeps, "shown">): Effects {
  const observed = ObservedLaunches.of(given.deps.observation, given.session);
  const options: EffectDeps = { ...given, session: observed?.hostOf(given.session) ?? given.session, shown: {} };
  const running = new Map<string, Running>();
  let generation = 0;
  const watchEnd = createRunWatch(options);
  const extras = callExtras(options);

  /** Tracks an effect until its closing fact is in the inbox; an effect that was dropped adds none. */
  const track: Track = ({ id, runId }, work) => {
    const born = generation;
    const attempt = observed?.take();
    const entry: Running = { ...work, runId, isOver: false };
    running.set(id, entry);
    void work.closing
      .catch((error: unknown) => work.broken(failureOf(internalError(options.deps, "A closing fact could not be computed", error))))
      .then(async (body) => {
        entry.isOver = true;
        attempt?.end(born === generation ? body : undefined);
        if (born !== generation || running.get(id) !== entry) return;
        if (body) await given.session.close(body);
        work.lane?.close();
        if (born === generation && running.delete(id) && !body) options.session.effectLeft();
      });
  };

  const prepare = (effect: Effect, state: State, timeout: UserCodeTimeout): SyncOrAsync<Prepared> => {
    if (effect.type !== "start-child") watchEnd.drives("input" in effect ? effect.input.runId : effect.runId);
    switch (effect.type) {
      case "open-run":
        return openRun(options, effect, { budget: shareLeft(state, effect.input), timeout });
      case "gate-calls":
        return prepareGates(options, effect, { state, timeout });
      case "schedule-retry":
        return { bodies: [scheduleRetry(options.deps, effect, state.run?.handedOver ?? 0)] };
      case "call-model":
        return prepareCall(options, effect, { state, timeout, track, ...extras });
      case "run-tool":
        return prepareRun(options, effect, { state, timeout, track });
      case "lookup-tool":
        return { bodies: [], launch: (_, now) => launchLookup(options, effect, { state: now.state, track }) };
      case "stop-child":
        return { bodies: [], launch: () => stopChild(options, effect, track) };
      case "start-child":
        return { bodies: [], launch: () => startChild(options, effect, track) };
      default:
        return effect satisfies never;
    }
  };

  return {
    prepare: observed?.wrap(prepare) ?? prepare,
    isRunning: (id) => running.has(id),
    count: () => running.size,
    onState(state) {
      watchEnd.adopted(state);
      extras.reservations?.current?.onState(state);
      signalAll(running, state);
    },
    handOver() {
      for (const { handOver, isOver } of running.values()) if (!isOver) handOver();
    },
    forget() {
      generation++;
      watchEnd.forget();
      for (const { abort, lane } of running.values()) {
        lane?.close();
        abort(0);
      }
      running.clear();
    },
  };
}

/** What the model calls of a session share. */
function callExtras({ deps, builder }: EffectDeps): CallExtras {
  return {
    reservations: loadedReservations(deps, builder),
    counts: loadedCounts(deps, builder),
    fitting: new RequestFitting(deps, builder),
  };
}

/** True if a call of a client tool may have to pass gates. A `prepare` hook counts, because it may add tools with `approval`. */
const mayGateClient = ({ hooks, tools }: Agent): boolean =>
  hooks.some(({ gate, prepare }) => gate || prepare) || tools.some(({ approval }) => approval !== undefined);

function openRun(
  options: EffectDeps,
  { input }: Extract<Effect, { type: "open-run" }>,
  { budget, timeout }: { readonly budget: RunBudget | undefined; readonly timeout: UserCodeTimeout },
): SyncOrAsync<Prepared> {
  const { bound } = options.deps;
  const { agent, digest: agentDigest, registry } = bound;
  const { runId, access, labels } = input;
  const started: BodyOf<"run.started"> = {
    type: "run.started",
    runId,
    agent: agent.name,
    agentDigest,
    provider: agent.provider.name,
    model: input.options?.model ?? agent.model,
    tools: registry.policies(),
    limits: agent.limits,
    ...chainOf(agent, input.options?.model),
    ...(mayGateClient(agent) ? { gatesClient: true } : {}),
    ...(budget ? { budget } : {}),
  };
  if (!startsRuns(agent)) return { bodies: [started] };
  const run = { runId, ...(access ? { access } : {}), ...(labels ? { labels } : {}) };
  const asking = askingOf(options, contextOf(options.deps, { run, turn: 0 }, timeout), input);
  const failed = (error: unknown): Prepared => {
    const failure = { ...failureOf(internalError(options.deps, "A run could not be started", error)), retryable: false };
    return { bodies: [started, { type: "run.finished", runId, status: "failed", reason: failure.code, failure }] };
  };
  const asked = runStartHooks(asking, options.deps).then((trace): Prepared => ({ bodies: [{ ...started, ...trace }] }), failed);
  return timeout.waitFor(asked, failed);
}

/** Full jitter, but never before the time that the vendor asked for. Attempts that were handed over do not count as failed. */
function scheduleRetry({ clock, ids, callGuard }: Deps, effect: Extract<Effect, { type: "schedule-retry" }>, handedOver: number): FactBody {
  const { runId, turn, attempt, failure } = effect;
  const spreadMs = Math.min(driverLimits.retryCapMs, driverLimits.retryBaseMs * 2 ** (attempt - handedOver));
  const waitMs = callGuard.waitMs({ askedMs: failure.retryAfterMs ?? 0, spreadMs, random: ids.random() });
  return { type: "wait.scheduled", runId, turn, attempt, until: clock.now() + waitMs, reason: failure.code };
}

/** Aborts at once the effects of ended runs, and after the grace period those of an aborted run. An effect that the log no longer needs is dropped. */
function signalAll(running: Map<string, Running>, state: State): void {
  const { run } = state;
  for (const [id, { runId, abort, isOver, isLeft, lane }] of running) {
    if (isOver) continue;
    if (isLeft?.(state)) {
      running.delete(id);
      lane?.close();
      abort(0);
    } else if (run?.runId !== runId) abort(0);
    else if (run.abort) abort(run.limits.abortGraceMs);
  }
}

function stopChild({ session }: EffectDeps, effect: Extract<Effect, { type: "stop-child" }>, track: Track): void {
  const { runId, child } = effect;
  const place = { runId, ...(child.callKey === undefined ? {} : { callKey: child.callKey }) };
  const broken = (): FactBody => ({ type: "child.finished", ...place, session: child.session, outcome: "aborted", output: [] });
  track(effect, { abort: () => {}, handOver: () => {}, closing: session.stopChild(place, child), broken });
}

function startChild({ session }: EffectDeps, effect: Extract<Effect, { type: "start-child" }>, track: Track): void {
  const { child, runId } = effect;
  const broken = (failure: Failure): FactBody => ({
    ...{ type: "child.finished", runId, session: child.session, outcome: "error", output: [], failure },
  });
  track(effect, { abort: () => {}, handOver: () => {}, closing: session.startChild(child), broken });
}

function launchLookup(options: EffectDeps, effect: LookupEffect, { state, track }: Pick<PreparationDeps, "state" | "track">): void {
  const { deps } = options;
  const timeout = createUserCodeTimeout(deps.clock);
  const run = state.run as Run;
  const context = contextOf(deps, { run, turn: run.turn }, timeout);
  const broken = (): FactBody => interrupted(effect.runId, effect.call);
  let isHandedOver = false;
  const giveUp = (): FactBody | undefined => (isHandedOver ? undefined : broken());
  const asking = askingOf(options, context, run);
  const calls = run.calls.map(({ part }) => part);
  const looking = Promise.resolve(shownTools(options, state, timeout)).then((registry) =>
    lookUpCall(effect, { deps, registry, asking, calls, signal: timeout.signal }),
  );
  const closing = Promise.resolve(timeout.waitFor<FactBody | undefined>(looking, giveUp));
  const abort = (): void => timeout.abort(0);
  const handOver = (): void => {
    isHandedOver = true;
    abort();
  };
  track(effect, { abort, handOver, closing, broken });
}
