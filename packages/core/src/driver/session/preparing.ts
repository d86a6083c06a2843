/*
 * Owns: making ready what a state owes: folding what follows from it, asking for the effects' intents, keeping what is still being thought about.
 * Does not own: what is owed (plan), how an effect is prepared (effects), when a batch is written (the driver).
 */
import type { Effect } from "../../loop/effect.ts";
import { plan } from "../../loop/plan.ts";
import type { State } from "../../loop/state.ts";
import type { Clock } from "../../ports/clock.ts";
import type { LaunchState, Prepared } from "../effects/effect-scene.ts";
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

export function createPreparing({ effects, clock, onReady }: PreparingOptions): Preparing {
  const thoughts = new Map<string, Thought>();
  const wait = createWait(clock);

  const drop = (id: string, { patience }: Thought): void => {
    thoughts.delete(id);
    patience.abort(0);
  };

  const begin = (effect: Effect, state: State): Prepared | Thought => {
    const known = thoughts.get(effect.id);
    if (known) return known;
    const patience = createPatience(clock);
    const prepared = effects.prepare(effect, state, patience);
    if (!(prepared instanceof Promise)) return prepared;
    const thought = thoughtOf(prepared, patience);
    thoughts.set(effect.id, thought);
    void thought.done.then(() => {
      if (thoughts.get(effect.id) === thought && !wait.isOn) onReady();
    });
    return thought;
  };

  /** What is ready of these. Waits for what is asked now, unless somebody interrupts; what was waited for before tells when it is ready. */
  const readyOf = async (due: readonly Effect[], state: State): Promise<readonly Prepared[]> => {
    const asked = due.filter(({ id }) => !thoughts.has(id));
    const begun = due.map((effect) => ({ id: effect.id, is: begin(effect, state) }));
    const open = asked.flatMap(({ id }) => thoughts.get(id)?.done ?? []);
    await wait.until(open);
    return begun.flatMap(({ id, is }) => {
      if (!("done" in is)) return [is];
      if (!is.take || thoughts.get(id) !== is) return [];
      thoughts.delete(id);
      return [is.take()];
    });
  };

  return {
    async prepareOwed(speculation) {
      const launches: Launch[] = [];
      const seen = new Set<string>();
      wait.reset();
      for (;;) {
        const { facts, effects: owed } = plan(speculation.state);
        let isMoved = false;
        for (const body of facts) if (hasRoom(speculation) && speculation.add(body)) isMoved = true;
        if (isMoved && hasRoom(speculation)) continue;
        for (const [id, thought] of thoughts) if (!owed.some((effect) => effect.id === id)) drop(id, thought);
        const now = clock.now();
        const due = owed.filter(
          (effect) =>
            !effects.isRunning(effect.id) && !seen.has(effect.id) && !("notBefore" in effect && isAhead(effect.notBefore ?? 0, now)),
        );
        const fitting = due.slice(0, Math.max(0, driverLimits.factsPerBatch - speculation.facts.length));
        if (fitting.length === 0) return launches;
        for (const { id } of fitting) seen.add(id);
        for (const { bodies, launch } of await readyOf(fitting, speculation.state)) {
          const [intent] = bodies.map((body) => speculation.add(body));
          if (launch && (intent || bodies.length === 0)) launches.push((now) => launch(intent, now));
        }
      }
    },
    interrupt: wait.interrupt,
    forget() {
      for (const [id, thought] of thoughts) drop(id, thought);
    },
  };
}

/** A wait that is short at the most, and over at once when it is interrupted. */
interface Wait {
  isOn: boolean;
  until(all: readonly Promise<void>[]): Promise<void>;
  /** Ends this wait and later ones, until it is reset. */
  interrupt(): void;
  reset(): void;
}

function createWait(clock: Clock): Wait {
  let isInterrupted = false;
  let end: (() => void) | undefined;
  const wait: Wait = {
    isOn: false,
    async until(all) {
      if (all.length === 0 || isInterrupted) return;
      let cancel = (): void => {};
      wait.isOn = true;
      await new Promise<void>((resolve) => {
        end = resolve;
        cancel = clock.after(driverLimits.hookWaitMs, resolve);
        void Promise.all(all).then(() => resolve());
      });
      end = undefined;
      wait.isOn = false;
      cancel();
    },
    interrupt() {
      isInterrupted = true;
      end?.();
    },
    reset() {
      isInterrupted = false;
    },
  };
  return wait;
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
