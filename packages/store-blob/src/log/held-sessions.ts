import { type Clock, refKey, type SessionRef } from "@loopwright/core/ports";
import { storeLimits } from "../store-limits.ts";

/**
 * Sessions with a date that a lease was seen to hold, so that the next sweeps pass them without a look. A look is due when that lease would end, and
 * every few seconds, because another process may have given it back; what this process does with a session is known at once.
 */
export class HeldSessions {
  readonly #clock: Clock;
  readonly #lookMs: number;
  readonly #until = new Map<string, number>();

  constructor(clock: Clock, lookMs: number) {
    this.#clock = clock;
    this.#lookMs = lookMs;
  }

  isHeld(ref: SessionRef): boolean {
    const until = this.#until.get(refKey(ref));
    return until !== undefined && until > this.#clock.monotonic();
  }

  saw(ref: SessionRef, remainingMs: number): void {
    const name = refKey(ref);
    this.#until.delete(name);
    this.#until.set(name, this.#clock.monotonic() + Math.min(remainingMs, this.#lookMs));
    const [oldest] = this.#until.keys();
    if (this.#until.size > storeLimits.heldSessionsMax && oldest !== undefined) this.#until.delete(oldest);
  }

  forget(ref: SessionRef): void {
    this.#until.delete(refKey(ref));
  }
}
