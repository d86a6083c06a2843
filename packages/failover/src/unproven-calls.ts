/*
 * Owns: how many calls at once a model gets of which this process does not know whether it answers; the others wait for what becomes of them.
 * Does not own: circuits (create-failover), what an outcome means (watched-call).
 * Invariants
 *  U1 no call waits longer than `unprovenWaitMs`;
 *  U2 a call that saw the model fail while it waited goes to the next model, and does not ask this one.
 */
import type { CallTarget } from "@loopwright/core";
import type { Clock } from "@loopwright/core/ports";
import type { FailoverLimits } from "./failover-limits.ts";

/** The calls of one model. */
export class UnprovenCalls {
  readonly #clock: Clock;
  readonly #limits: FailoverLimits;
  /** When the calls that are under way were let through; one that never began is forgotten after `unprovenWaitMs`. */
  #begun: number[] = [];
  #answeredAtMs = Number.NEGATIVE_INFINITY;
  readonly #waiting = new Set<(outcome: "goes" | "moves") => void>();
  readonly #moved = new WeakSet<CallTarget>();

  constructor(clock: Clock, limits: FailoverLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Lets the call through at once, or resolves when it may continue. */
  take(target: CallTarget): Promise<void> | undefined {
    const now = this.#clock.monotonic();
    if (now - this.#answeredAtMs < this.#limits.provenMs) return undefined;
    this.#begun = this.#begun.filter((at) => now - at < this.#limits.unprovenWaitMs);
    if (this.#begun.length < this.#limits.unprovenMax) {
      this.#begun.push(now);
      return undefined;
    }
    return new Promise((resolve) => {
      const end = (outcome: "goes" | "moves"): void => {
        cancel();
        this.#waiting.delete(end);
        if (outcome === "moves") this.#moved.add(target);
        resolve();
      };
      const cancel = this.#clock.after(this.#limits.unprovenWaitMs, () => end("goes"), { idle: true });
      this.#waiting.add(end);
    });
  }

  /** True if the call waited, and saw the model fail. */
  hasMoved(target: CallTarget): boolean {
    return this.#moved.has(target);
  }

  /** The model has begun to answer. */
  answered(): void {
    this.#answeredAtMs = this.#clock.monotonic();
    this.#begun = [];
    this.#end("goes");
  }

  /** A call has failed, and is no longer under way. */
  failed(): void {
    this.#begun.shift();
    this.#answeredAtMs = Number.NEGATIVE_INFINITY;
    this.#end("moves");
  }

  /** A call ended without news of the model: another one may look. */
  left(): void {
    this.#begun.shift();
    const [next] = this.#waiting;
    if (!next) return;
    this.#begun.push(this.#clock.monotonic());
    next("goes");
  }

  #end(outcome: "goes" | "moves"): void {
    for (const end of [...this.#waiting]) end(outcome);
  }
}
