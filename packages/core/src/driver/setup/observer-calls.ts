/*
 * Owns: the calls to observers and their order. An error that an observer throws reaches only the logger and the other observers.
 * Does not own: when they are called (the driver, user-code-errors).
 */

import type { EffectObservation, ObservedEffect, ObservedRun, Observer } from "../../agent/observer.ts";
import type { Fact, FactBody } from "../../loop/fact.ts";
import type { State } from "../../loop/state.ts";
import { present } from "../../message/drop-undefined.ts";
import type { SessionRef } from "../../ports/session-log.ts";
import type { SessionSnapshot } from "../../protocol/snapshot.ts";
import { isTraceparent } from "../../protocol/traceparent.ts";
import { type Reports, reportThrown } from "./user-code-errors.ts";

/** An attempt that observers follow. */
export interface ObservedAttempt {
  /** `run` is called exactly once, whatever an observer does. */
  around<T>(run: () => T): T;
  end(closing: FactBody | undefined): void;
}

/** All observers of one session as one. */
export interface Observation {
  readonly wantsFacts: boolean;
  readonly wantsEffects: boolean;
  /** `state`: the session after the facts, or later. */
  facts(facts: readonly Fact[], state: State): void;
  effect(effect: ObservedEffect, run: ObservedRun): ObservedAttempt;
  /** The trace of the work that runs now. */
  trace(): string | undefined;
  bug(where: string, error: unknown): void;
}

/** `undefined` without observers: then nothing is computed for them. */
export function observationOf(
  observers: readonly Observer[],
  { ref, snapshotOf, ...reports }: { readonly ref: SessionRef; readonly snapshotOf: (state: State) => SessionSnapshot } & Reports,
): Observation | undefined {
  if (observers.length === 0) return undefined;
  // An error that an observer throws when it is notified of a bug goes to the logger alone, so that observers do not notify each other for ever.
  let isReporting = false;
  const guarded = <T>(of: string, use: () => T): T | undefined => {
    const report = (error: unknown): void =>
      reportThrown(
        { ...reports, observation: isReporting ? undefined : observation },
        `The method \`${of}\` of an observer threw an error.`,
        error,
      );
    try {
      const result = use();
      if (result instanceof Promise) result.catch(report);
      return result;
    } catch (error) {
      report(error);
      return undefined;
    }
  };
  const observation: Observation = {
    wantsFacts: observers.some((one) => one.facts),
    wantsEffects: observers.some((one) => one.effect),
    facts(facts, state) {
      let made: SessionSnapshot | undefined;
      const snapshot = (): SessionSnapshot => {
        made ??= snapshotOf(state);
        return made;
      };
      for (const one of observers) guarded("facts", () => one.facts?.(ref, facts, snapshot, (runId) => observedRun(state, runId)));
    },
    effect(effect, run) {
      const attempts = observers.flatMap((one) => guarded("effect", () => one.effect?.(ref, effect, run)) ?? []);
      return {
        around: <T>(run: () => T) =>
          attempts.reduceRight<() => T>((inner, one) => (one.around ? () => aroundOnce(one, inner, guarded) : inner), run)(),
        end(closing) {
          for (const one of attempts) guarded("end", () => one.end?.(closing));
        },
      };
    },
    trace() {
      for (const one of observers) {
        const trace = one.trace && guarded("trace", () => one.trace?.());
        if (isTraceparent(trace)) return trace;
      }
      return undefined;
    },
    bug(where, error) {
      if (isReporting) return;
      isReporting = true;
      for (const one of observers) guarded("bug", () => one.bug?.(ref, where, error));
      isReporting = false;
    },
  };
  return observation;
}

/** The description of a run for observers, if it is open or waits to begin. */
export function observedRun({ run, inputs, parent }: State, runId: string): ObservedRun | undefined {
  const found = run?.runId === runId ? run : inputs.find((input) => input.runId === runId);
  if (!found) return undefined;
  const { access, labels, trace } = found;
  return {
    runId,
    ...("agent" in found ? { agent: found.agent } : {}),
    ...present({ access, labels, trace, parent }),
  };
}

type Guarded = <T>(of: string, use: () => T) => T | undefined;

/** Runs the attempt exactly once, even if its observer calls it never or twice. An error of the attempt is not reported as an error of the observer. */
function aroundOnce<T>(one: EffectObservation, run: () => T, guarded: Guarded): T {
  let outcome: { readonly value: T } | { readonly error: unknown } | undefined;
  const once = (): T => {
    try {
      outcome ??= { value: run() };
    } catch (error) {
      outcome = { error };
    }
    if ("error" in outcome) throw outcome.error;
    return outcome.value;
  };
  guarded("around", () => {
    try {
      one.around?.(once);
    } catch (error) {
      if (!outcome || !("error" in outcome) || outcome.error !== error) throw error;
    }
  });
  return once();
}
