/*
 * Owns: the effects under way in this process: launching, signalling, handing in their closing facts.
 * Does not own: what is owed (plan), what is recorded (the driver).
 */
import { failureOf } from "../../errors.ts";
import { interrupted } from "../../loop/closing-results.ts";
import type { Effect } from "../../loop/effect.ts";
import type { FactBody } from "../../loop/fact.ts";
import type { Run, State } from "../../loop/state.ts";
import { contextOf, type EffectsOptions, type Prepared, type Scene, type Track, type Work } from "../effects/effect-scene.ts";
import type { Maybe } from "../effects/maybe.ts";
import { createPatience, type Patience } from "../effects/patience.ts";
import { shownTools } from "../effects/shown-tools.ts";
import { prepareCall } from "../model/call-model.ts";
import type { Deps } from "../setup/deps.ts";
import { driverLimits } from "../setup/session-options.ts";
import { internalError } from "../setup/user-code.ts";
import { type LookupEffect, lookUpCall } from "../tools/look-up-call.ts";
import { prepareRun } from "../tools/run-tool.ts";

export interface Effects {
  /** Asks what an owed effect is to be. User code is asked with `patience`. */
  readonly prepare: (effect: Effect, state: State, patience: Patience) => Maybe<Prepared>;
  isRunning(effectId: string): boolean;
  count(): number;
  /** Signals what the state wants no longer: effects of an aborted run, with its grace, and of a run that is over. */
  heed(state: State): void;
  /** Signals everything that the session goes to another node. What ends by itself is handed in still. */
  handOver(): void;
  /** Signals everything and forgets it: nothing is handed in any more. */
  forget(): void;
}

interface Running extends Work {
  readonly runId: string;
  /** It has ended by itself; its closing fact is on the way. */
  isOver: boolean;
}

export function createEffects(given: Omit<EffectsOptions, "shown">): Effects {
  const options: EffectsOptions = { ...given, shown: {} };
  const running = new Map<string, Running>();
  let generation = 0;

  /** Tracks an effect until its closing fact is handed in; one that was forgotten hands in nothing. */
  const track: Track = ({ id, runId }, work) => {
    const born = generation;
    const entry: Running = { ...work, runId, isOver: false };
    running.set(id, entry);
    void work.closing
      .catch((error: unknown) => work.broken(failureOf(internalError(options.deps, "The end of an effect could not be recorded", error))))
      .then(async (body) => {
        entry.isOver = true;
        if (born !== generation) return;
        if (body) await options.close(body);
        work.lane?.close();
        if (born === generation && running.delete(id) && !body) options.onLeft();
      });
  };

  const prepare = (effect: Effect, state: State, patience: Patience): Maybe<Prepared> => {
    switch (effect.type) {
      case "open-run":
        return { bodies: [openRun(options.deps, effect)] };
      case "schedule-retry":
        return { bodies: [scheduleRetry(options.deps, effect, state.run?.handedOver ?? 0)] };
      case "call-model":
        return prepareCall(options, effect, { state, patience, track });
      case "run-tool":
        return prepareRun(options, effect, { state, patience, track });
      case "lookup-tool":
        return { bodies: [], launch: (_, now) => launchLookup(options, effect, { state: now.state, track }) };
      default:
        return effect satisfies never;
    }
  };

  return {
    prepare,
    isRunning: (id) => running.has(id),
    count: () => running.size,
    heed({ run }) {
      for (const { runId, abort, isOver } of running.values()) {
        if (isOver) continue;
        if (run?.runId !== runId) abort(0);
        else if (run.abort) abort(run.limits.abortGraceMs);
      }
    },
    handOver() {
      for (const { handOver, isOver } of running.values()) if (!isOver) handOver();
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

function openRun({ bound }: Deps, { input }: Extract<Effect, { type: "open-run" }>): FactBody {
  const { agent, digest: agentDigest, registry } = bound;
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

/** Full jitter, but never before the moment the vendor asked for, and not in one moment with others. Attempts that were handed over have not failed. */
function scheduleRetry({ clock, ids, callGuard }: Deps, effect: Extract<Effect, { type: "schedule-retry" }>, handedOver: number): FactBody {
  const { runId, turn, attempt, failure } = effect;
  const spreadMs = Math.min(driverLimits.retryCapMs, driverLimits.retryBaseMs * 2 ** (attempt - handedOver));
  const waitMs = callGuard.waitMs({ askedMs: failure.retryAfterMs ?? 0, spreadMs, random: ids.random() });
  return { type: "wait.scheduled", runId, turn, attempt, until: clock.now() + waitMs, reason: failure.code };
}

function launchLookup(options: EffectsOptions, effect: LookupEffect, { state, track }: Pick<Scene, "state" | "track">): void {
  const { deps } = options;
  const patience = createPatience(deps.clock);
  const run = state.run as Run;
  const context = contextOf(deps, { run, turn: run.turn }, patience);
  const broken = (): FactBody => interrupted(effect.runId, effect.call);
  let isHandedOver = false;
  const giveUp = (): FactBody | undefined => (isHandedOver ? undefined : broken());
  const looking = Promise.resolve(shownTools(options, state, patience)).then((registry) =>
    lookUpCall(effect, { deps, registry, context, signal: patience.signal }),
  );
  const closing = Promise.resolve(patience.waitFor<FactBody | undefined>(looking, giveUp));
  const abort = (): void => patience.abort(0);
  const handOver = (): void => {
    isHandedOver = true;
    abort();
  };
  track(effect, { abort, handOver, closing, broken });
}
