/*
 * Owns: making ready what a state owes: folding what follows from it, asking for the effects' intents, keeping what is still being thought about.
 * Does not own: what is owed (plan), how an effect is prepared (effects), when a batch is written (the driver).
 */
import type { Effect } from "../../loop/effect.ts";
import { plan } from "../../loop/plan.ts";
import type { State } from "../../loop/state.ts";
import type { Clock } from "../../ports/clock.ts";
import type { LaunchState, Prepared } from "../effects/effect-scene.ts";
import type { Maybe } from "../effects/maybe.ts";
import { createPatience, type Patience } from "../effects/patience.ts";
import { isAhead } from "../ownership/dates.ts";
import { driverLimits } from "../setup/session-options.ts";
import type { Effects } from "./effects.ts";
import type { Speculation } from "./speculation.ts";

export type Launch = (now: LaunchState) => void;

export interface Preparing {
  /**
   * Folds what follows and prepares what is owed, until neither is left or the batch is full. User code that thinks for long holds nobody up:
   * what it says is taken by a later call.
   */
  prepareOwed(speculation: Speculation): Promise<readonly Launch[]>;
  /** Ends the wait for user code. */
  interrupt(): void;
  /** Signals all user code and forgets what it will say. */
  forget(): void;
}

export interface PreparingOptions {
  readonly effects: Effects;
  readonly clock: Clock;
  /** Told when something that nobody waited for is ready. */
  readonly onReady: () => void;
}

/** An effect that is being prepared. */
interface Thought {
  readonly patience: Patience;
  readonly done: Promise<void>;
  /** Throws what preparing threw: a bug of ours. */
  take?: () => Prepared;
}

export function createPreparing(options: PreparingOptions): Preparing {
  return new EffectPreparing(options);
}

class EffectPreparing implements Preparing {
  readonly #effects: Effects;
  readonly #clock: Clock;
  readonly #onReady: () => void;
  readonly #thoughts = new Map<string, Thought>();
  readonly #wait: ShortWait;

  constructor({ effects, clock, onReady }: PreparingOptions) {
    this.#effects = effects;
    this.#clock = clock;
    this.#onReady = onReady;
    this.#wait = new ShortWait(clock);
  }

  async prepareOwed(speculation: Speculation): Promise<readonly Launch[]> {
    const launches: Launch[] = [];
    const seen: string[] = [];
    this.#wait.reset();
    for (;;) {
      const { facts, effects: owed } = plan(speculation.state);
      let isMoved = false;
      for (const body of facts) if (hasRoom(speculation) && speculation.add(body)) isMoved = true;
      if (isMoved && hasRoom(speculation)) continue;
      for (const [id, thought] of this.#thoughts) if (!owed.some((effect) => effect.id === id)) this.#drop(id, thought);
      const fitting = this.#fitting(owed, { seen, speculation });
      if (fitting.length === 0) return launches;
      for (const { id } of fitting) seen.push(id);
      const ready = this.#readyOf(fitting, speculation.state);
      for (const { bodies, launch } of ready instanceof Promise ? await ready : ready) {
        const [intent] = bodies.map((body) => speculation.add(body));
        if (launch && (intent || bodies.length === 0)) launches.push((now) => launch(intent, now));
      }
    }
  }

  interrupt(): void {
    this.#wait.interrupt();
  }

  forget(): void {
    for (const [id, thought] of this.#thoughts) this.#drop(id, thought);
  }

  /** What is owed now, is not under way, and has room in the batch. */
  #fitting(
    owed: readonly Effect[],
    { seen, speculation }: { readonly seen: readonly string[]; readonly speculation: Speculation },
  ): readonly Effect[] {
    if (owed.length === 0) return owed;
    const now = this.#clock.now();
    const isDue = (effect: Effect): boolean =>
      !this.#effects.isRunning(effect.id) && !seen.includes(effect.id) && !("notBefore" in effect && isAhead(effect.notBefore ?? 0, now));
    return owed.filter(isDue).slice(0, Math.max(0, driverLimits.factsPerBatch - speculation.facts.length));
  }

  #drop(id: string, { patience }: Thought): void {
    this.#thoughts.delete(id);
    patience.abort(0);
  }

  #begin(effect: Effect, state: State): Prepared | Thought {
    const known = this.#thoughts.get(effect.id);
    if (known) return known;
    const patience = createPatience(this.#clock);
    const prepared = this.#effects.prepare(effect, state, patience);
    if (!(prepared instanceof Promise)) return prepared;
    const thought = thoughtOf(prepared, patience);
    this.#thoughts.set(effect.id, thought);
    void thought.done.then(() => {
      if (this.#thoughts.get(effect.id) === thought && !this.#wait.isOn) this.#onReady();
    });
    return thought;
  }

  /** What is ready of these; at once where no user code is asked. What was waited for before tells when it is ready. */
  #readyOf(due: readonly Effect[], state: State): Maybe<readonly Prepared[]> {
    const ready: Prepared[] = [];
    const asked: Promise<void>[] = [];
    const begun = due.map((effect) => {
      const isKnown = this.#thoughts.has(effect.id);
      const is = this.#begin(effect, state);
      if (!("done" in is)) ready.push(is);
      else if (!isKnown) asked.push(is.done);
      return is;
    });
    return ready.length === due.length ? ready : this.#whenAsked(due, { begun, asked });
  }

  /** Waits for what is asked now, unless somebody interrupts. */
  async #whenAsked(
    due: readonly Effect[],
    { begun, asked }: { readonly begun: readonly (Prepared | Thought)[]; readonly asked: readonly Promise<void>[] },
  ): Promise<readonly Prepared[]> {
    await this.#wait.until(asked);
    return begun.flatMap((is, index) => {
      if (!("done" in is)) return [is];
      const { id } = due[index] as Effect;
      if (!is.take || this.#thoughts.get(id) !== is) return [];
      this.#thoughts.delete(id);
      return [is.take()];
    });
  }
}

/** A wait that is short at the most, and over at once when it is interrupted. */
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

function thoughtOf(prepared: Promise<Prepared>, patience: Patience): Thought {
  const done = prepared.then(
    (ready) => {
      thought.take = () => ready;
    },
    (error: unknown) => {
      thought.take = () => {
        throw error;
      };
    },
  );
  const thought: Thought = { patience, done };
  return thought;
}

const hasRoom = ({ facts }: Speculation): boolean => facts.length < driverLimits.factsPerBatch;
