/*
 * Owns: the preparation of the effects that a state needs: it folds the facts that follow, requests the intents, and keeps effects whose user code has
 *  not answered.
 * Does not own: which effects are needed (plan), how an effect is prepared (effects), when a batch is written (the driver).
 */

import type { Effect } from "../../loop/effect.ts";
import type { Fact } from "../../loop/fact.ts";
import { plan } from "../../loop/plan.ts";
import { stopsBeforeEnd } from "../../loop/plan-abort.ts";
import type { State } from "../../loop/state.ts";
import type { Clock } from "../../ports/clock.ts";
import type { LaunchState, Prepared } from "../effects/effect-deps.ts";
import { keepsTip } from "../effects/keeps-tip.ts";
import type { SyncOrAsync } from "../effects/sync-or-async.ts";
import { createUserCodeTimeout, type UserCodeTimeout } from "../effects/user-code-timeout.ts";
import { isAhead } from "../ownership/due-dates.ts";
import { driverLimits } from "../setup/driver-limits.ts";
import type { PendingBatch } from "./pending-batch.ts";
import type { Effects } from "./running-effects.ts";

export type Launch = (now: LaunchState) => void;

export interface EffectPreparationOptions {
  readonly effects: Effects;
  readonly clock: Clock;
  readonly session: {
    /** Called when an effect is prepared that no batch waits for. */
    wake(): void;
  };
}

/** The prepared effects of one batch. */
interface PreparedBatch {
  readonly launches: Launch[];
  /** Effects whose preparation was requested: each once per batch. */
  readonly seen: string[];
}

/** An effect that is being prepared. */
interface PendingPreparation {
  readonly timeout: UserCodeTimeout;
  readonly done: Promise<void>;
  /** The state in which it began: of a batch that the log may have refused since. */
  readonly state: State;
  /** True if the prepared facts end the run. */
  ends?: boolean;
  /** Rethrows an error of the preparation, which is a bug in core. */
  take?: () => Prepared;
}

export class EffectPreparation {
  readonly #effects: Effects;
  readonly #clock: Clock;
  readonly #session: EffectPreparationOptions["session"];
  readonly #pending = new Map<string, PendingPreparation>();
  readonly #wait: ShortWait;

  constructor({ effects, clock, session }: EffectPreparationOptions) {
    this.#effects = effects;
    this.#clock = clock;
    this.#session = session;
    this.#wait = new ShortWait(clock);
  }

  /**
   * Folds the facts that follow and prepares the needed effects, until neither is left or the batch is full. Slow user code delays no batch: a later
   * call takes its result.
   */
  prepareOwed(pending: PendingBatch): SyncOrAsync<readonly Launch[]> {
    this.#wait.reset();
    return this.#prepareRest(pending, { launches: [], seen: [] });
  }

  #prepareRest(pending: PendingBatch, batch: PreparedBatch): SyncOrAsync<readonly Launch[]> {
    const { launches, seen } = batch;
    for (;;) {
      const { facts, effects } = plan(pending.state);
      const owed = this.#withStops(effects, pending.state);
      let isMoved = false;
      for (const body of facts) if (hasRoom(pending) && pending.add(body)) isMoved = true;
      if (isMoved && hasRoom(pending)) continue;
      if (this.#pending.size > 0) this.#dropUnlessOwed(owed);
      const fitting = this.#fitting(owed, seen, pending);
      if (fitting.length === 0) return launches;
      for (const { id } of fitting) seen.push(id);
      const ready = this.#readyOf(fitting, pending.state);
      if (ready instanceof Promise) {
        return ready.then((prepared) => {
          addPrepared(prepared, pending, launches);
          return this.#prepareRest(pending, batch);
        });
      }
      addPrepared(ready, pending, launches);
    }
  }

  /** Before a run ends, the children that its hooks have left running are stopped, so that the run counts what they spent. */
  #withStops(owed: readonly Effect[], state: State): readonly Effect[] {
    return [...this.#pending.values()].some(({ ends }) => ends) ? [...owed, ...stopsBeforeEnd(state)] : owed;
  }

  #dropUnlessOwed(owed: readonly Effect[]): void {
    for (const [id, pending] of this.#pending) if (!owed.some((effect) => effect.id === id)) this.#drop(id, pending);
  }

  /** Stops waiting for user code in this call. */
  interrupt(): void {
    this.#wait.interrupt();
  }

  /** Signals all user code and ignores its results. */
  forget(): void {
    for (const [id, pending] of this.#pending) this.#drop(id, pending);
  }

  /** The effects that are needed now, do not run yet, and have room in the batch. */
  #fitting(owed: readonly Effect[], seen: readonly string[], { facts }: PendingBatch): readonly Effect[] {
    if (owed.length === 0) return owed;
    const now = this.#clock.now();
    const isDue = (effect: Effect): boolean =>
      !this.#effects.isRunning(effect.id) && !seen.includes(effect.id) && !("notBefore" in effect && isAhead(effect.notBefore ?? 0, now));
    return owed.filter(isDue).slice(0, Math.max(0, driverLimits.factsPerBatch - facts.length));
  }

  #drop(id: string, { timeout }: PendingPreparation): void {
    this.#pending.delete(id);
    timeout.abort(0);
  }

  #begin(effect: Effect, state: State): Prepared | PendingPreparation {
    const known = this.#pending.get(effect.id);
    if (known && (effect.type !== "call-model" || keepsTip(known.state, state))) return known;
    if (known) this.#drop(effect.id, known);
    const timeout = createUserCodeTimeout(this.#clock);
    const prepared = this.#effects.prepare(effect, state, timeout);
    if (!(prepared instanceof Promise) && !(endsRun(prepared) && stopsBeforeEnd(state).length > 0)) return prepared;
    const pending = pendingOf(Promise.resolve(prepared), { timeout, state });
    this.#pending.set(effect.id, pending);
    void pending.done.then(() => {
      if (this.#pending.get(effect.id) === pending && !this.#wait.isOn) this.#session.wake();
    });
    return pending;
  }

  /** The effects that are ready; synchronous if no user code is called. An effect that an earlier call waited for wakes the loop when it is ready. */
  #readyOf(due: readonly Effect[], state: State): SyncOrAsync<readonly Prepared[]> {
    const ready: Prepared[] = [];
    const asked: Promise<void>[] = [];
    const begun = due.map((effect) => {
      const isKnown = this.#pending.has(effect.id);
      const is = this.#begin(effect, state);
      if (!("done" in is)) ready.push(is);
      else if (!isKnown) asked.push(is.done);
      return is;
    });
    return ready.length === due.length ? ready : this.#whenAsked(due, { begun, asked, state });
  }

  /** Waits for the user code that is running now, unless the wait is interrupted. */
  async #whenAsked(due: readonly Effect[], { begun, asked, state }: AskedEffects): Promise<readonly Prepared[]> {
    await this.#wait.until(asked);
    return begun.flatMap((is, index) => {
      if (!("done" in is)) return [is];
      const { id } = due[index] as Effect;
      if (!is.take || this.#pending.get(id) !== is) return [];
      if (is.ends && stopsBeforeEnd(state).length > 0) return [];
      this.#pending.delete(id);
      return [is.take()];
    });
  }
}

interface AskedEffects {
  readonly begun: readonly (Prepared | PendingPreparation)[];
  readonly asked: readonly Promise<void>[];
  readonly state: State;
}

const endsRun = ({ bodies }: Prepared): boolean => bodies.some(({ type }) => type === "run.finished");

/** A wait with a short limit, which ends at once when it is interrupted. */
class ShortWait {
  readonly #clock: Clock;
  #isInterrupted = false;
  #end: (() => void) | undefined;
  isOn = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async until(all: readonly Promise<void>[]): Promise<void> {
    if (all.length === 0 || this.#isInterrupted) return;
    let cancel = (): void => {};
    this.isOn = true;
    await new Promise<void>((resolve) => {
      this.#end = resolve;
      cancel = this.#clock.after(driverLimits.hookWaitMs, resolve);
      void Promise.all(all).then(() => resolve());
    });
    this.#end = undefined;
    this.isOn = false;
    cancel();
  }

  /** Ends this wait and later ones, until it is reset. */
  interrupt(): void {
    this.#isInterrupted = true;
    this.#end?.();
  }

  reset(): void {
    this.#isInterrupted = false;
  }
}

function pendingOf(prepared: Promise<Prepared>, { timeout, state }: Pick<PendingPreparation, "timeout" | "state">): PendingPreparation {
  const done = prepared.then(
    (ready) => {
      pending.ends = endsRun(ready);
      pending.take = () => ready;
    },
    (error: unknown) => {
      pending.take = () => {
        throw error;
      };
    },
  );
  const pending: PendingPreparation = { timeout, done, state };
  return pending;
}

function addPrepared(ready: readonly Prepared[], pending: PendingBatch, launches: Launch[]): void {
  for (const { bodies, launch } of ready) {
    let intent: Fact | undefined;
    for (const [index, body] of bodies.entries()) {
      const fact = pending.add(body);
      if (index === bodies.length - 1) intent = fact;
    }
    if (launch && (intent || bodies.length === 0)) launches.push((now) => launch(intent, now));
  }
}

const hasRoom = ({ facts }: PendingBatch): boolean => facts.length < driverLimits.factsPerBatch;
