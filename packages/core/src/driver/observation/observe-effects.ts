/*
 * Owns: the observation of each attempt from its launch to its end, exactly once, even if it ends during its launch.
 * Does not own: how an effect runs (effects), the observers' errors (observer-calls).
 */
import type { ObservedEffect } from "../../agent/observer.ts";
import type { Effect } from "../../loop/effect.ts";
import type { Fact, FactBody } from "../../loop/fact.ts";
import type { EffectHost, Prepared } from "../effects/effect-deps.ts";
import { andThen, type SyncOrAsync } from "../effects/sync-or-async.ts";
import { type Observation, type ObservedAttempt, observedRun } from "../setup/observer-calls.ts";

export class ObservedLaunches {
  readonly #observation: Observation;
  readonly #session: Pick<EffectHost, "state">;
  /** The attempt whose launch is under way. A launch is synchronous, so there is one at most. */
  #launching: ObservedAttempt | undefined;

  constructor(observation: Observation, session: Pick<EffectHost, "state">) {
    this.#observation = observation;
    this.#session = session;
  }

  /** `undefined` if no observer has asked for attempts. */
  static of(observation: Observation | undefined, session: Pick<EffectHost, "state">): ObservedLaunches | undefined {
    return observation?.wantsEffects ? new ObservedLaunches(observation, session) : undefined;
  }

  /** Wraps `prepare`, so that each effect is observed from its launch on. */
  wrap<Rest extends readonly unknown[]>(
    prepare: (effect: Effect, ...rest: Rest) => SyncOrAsync<Prepared>,
  ): (effect: Effect, ...rest: Rest) => SyncOrAsync<Prepared> {
    return (effect, ...rest) => {
      const prepared = prepare(effect, ...rest);
      return andThen(prepared, (one) => this.#observe(effect, one));
    };
  }

  #observe(effect: Effect, prepared: Prepared): Prepared {
    const { launch } = prepared;
    if (!launch) return prepared;
    return {
      ...prepared,
      launch: (intent, now) => {
        const observed = observedOf(effect, intent);
        if (!observed) return launch(intent, now);
        const { runId } = observed;
        const attempt = this.#observation.effect(observed, observedRun(this.#session.state, runId) ?? { runId });
        this.#launching = attempt;
        attempt.around(() => launch(intent, now));
        // An effect that was neither tracked nor closed has not started.
        this.take()?.end(undefined);
      },
    };
  }

  /** Returns the attempt that is being launched, once: the caller ends its observation. */
  take(): ObservedAttempt | undefined {
    const attempt = this.#launching;
    this.#launching = undefined;
    return attempt;
  }

  /** The session for effects that are launched: a fact that closes an attempt during its launch ends the observation of the attempt. */
  hostOf(session: EffectHost): EffectHost {
    return {
      get state() {
        return session.state;
      },
      close: (body: FactBody) => {
        this.take()?.end(body);
        return session.close(body);
      },
      record: (note) => session.record(note),
      child: (place, request) => session.child(place, request),
      spawn: (place, request) => session.spawn(place, request),
      stopChild: (place, child) => session.stopChild(place, child),
      startChild: (child) => session.startChild(child),
      offer: (bodies) => session.offer(bodies),
      effectLeft: () => session.effectLeft(),
    };
  }
}

/** The description of an attempt for observers; `undefined` for effects that only write facts. */
function observedOf(effect: Effect, intent: Fact | undefined): ObservedEffect | undefined {
  switch (effect.type) {
    case "call-model": {
      if (intent?.type !== "model.started") return undefined;
      const { id, type, runId, turn, attempt } = effect;
      return { type, id, runId, turn, attempt, provider: intent.provider, model: intent.model };
    }
    case "run-tool": {
      const { id, type, runId, turn, attempt, call } = effect;
      return { type, id, runId, turn, attempt, callKey: call.part.callKey, tool: call.part.name };
    }
    case "lookup-tool": {
      const { id, type, runId, call } = effect;
      return { type, id, runId, callKey: call.part.callKey, tool: call.part.name };
    }
    default:
      return undefined;
  }
}
