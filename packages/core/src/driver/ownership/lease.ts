/*
 * Owns: one held claim on a session, and knowing when it may be another's. Does not own: when it is renewed (lease-renewals).
 * Invariants
 *  L1 time counts from before a renewal is sent, on the monotonic clock: neither the wall clock nor a late answer matters;
 *  L2 after the process stood still nothing is done under the lease before the store has confirmed it again.
 */

import type { SessionStorage } from "../../memory/store/private-store.ts";
import type { Clock } from "../../ports/clock.ts";
import type { SessionRef } from "../../ports/session-log.ts";
import { retryUnavailable } from "../log/retry-unavailable-store.ts";
import { driverLimits, leaseShares } from "../setup/session-options.ts";
import { type Renewing, renewLease } from "./lease-renewals.ts";
import { watchPauses } from "./pause-watch.ts";

/** A held claim on a session, renewed until it is dropped or lost. */
export interface Lease {
  readonly epoch: number;
  /** False when it may be another's: nothing may be done under it then. One look at the clock. */
  readonly isConfirmed: boolean;
  /** Resolves when the store has confirmed it, or it is dropped or lost. */
  confirm(): Promise<void>;
  /** Stops renewing; the store is not informed. */
  drop(): void;
}

export interface LeaseOptions {
  readonly log: SessionStorage["log"];
  readonly ref: SessionRef;
  readonly clock: Clock;
  readonly node: string;
  readonly leaseMs: number;
  /** No other process can claim it: the lease is neither renewed nor watched. */
  readonly isPrivate?: boolean;
  /** Another may have taken over: nothing may be done under this epoch any more. */
  readonly onLost: () => void;
}

/** A lease of one's own and where the log ended when it was claimed, or how long the lease of another node runs unless it is renewed. */
export type ClaimedLease =
  | { readonly type: "claimed"; readonly lease: Lease; readonly lastSeq: number }
  | { readonly type: "held"; readonly remainingMs: number };

/** @throws AgentError STORE_* */
export async function claimLease(options: LeaseOptions): Promise<ClaimedLease> {
  const { log, ref, clock, node, leaseMs, isPrivate } = options;
  let askedAt = clock.monotonic();
  const claim = (): ReturnType<SessionStorage["log"]["claim"]> => {
    askedAt = clock.monotonic();
    return log.claim(ref, { node, leaseMs });
  };
  const outcome = isPrivate ? await claim() : await retryUnavailable(claim, { clock, staysFor: () => 0, answerMs: driverLimits.appendMs });
  if (outcome.type === "held") return outcome;
  const lease = isPrivate ? new PrivateLease(outcome.epoch) : new HeldLease(options, outcome.epoch, askedAt);
  return { type: "claimed", lease, lastSeq: outcome.lastSeq };
}

/** The lease of a private session: it holds until it is dropped, also when the process stands still for long. */
class PrivateLease implements Lease {
  readonly epoch: number;
  isConfirmed = true;

  constructor(epoch: number) {
    this.epoch = epoch;
  }

  confirm(): Promise<void> {
    return Promise.resolve();
  }

  drop(): void {
    this.isConfirmed = false;
  }
}

class HeldLease implements Lease {
  readonly epoch: number;
  readonly #options: LeaseOptions;
  readonly #pauses: ReturnType<typeof watchPauses>;
  #isHeld = true;
  #confirmedAt: number;
  /** The process stood still, and the store has not confirmed the lease since. */
  #isStale = false;
  /** Since when: a renewal that was sent before that confirms nothing. */
  #staleSince = 0;
  readonly #renewing: Renewing;
  #cancelStop = (): void => {};
  /** Callers of `confirm`. */
  #waiting: (() => void)[] = [];

  constructor(options: LeaseOptions, epoch: number, claimedAt: number) {
    const { log, ref, clock, leaseMs } = options;
    this.#options = options;
    this.epoch = epoch;
    this.#confirmedAt = claimedAt;
    this.#pauses = watchPauses(clock, { gapMs: leaseMs * leaseShares.gap, onPause: () => this.#onPause() });
    const answered = (isRenewed: boolean, sentAt: number): void => this.#answered(isRenewed, sentAt);
    this.#renewing = renewLease({ ref, epoch, leaseMs, answered }, { log, clock, confirmedAt: claimedAt });
    this.#stopInTime();
  }

  get isConfirmed(): boolean {
    return this.#isHeld && !this.#isStale && !this.#pauses.stoodStill && this.#leftMs > 0;
  }

  confirm(): Promise<void> {
    if (this.isConfirmed || !this.#isHeld) return Promise.resolve();
    const confirmed = new Promise<void>((resolve) => void this.#waiting.push(resolve));
    if (this.#leftMs <= 0) this.#lose();
    else this.#markStale();
    return confirmed;
  }

  drop(): void {
    this.#isHeld = false;
    this.#renewing.end();
    this.#cancelStop();
    this.#pauses.end();
    this.#notify();
  }

  /** Until the lease may be over. */
  get #leftMs(): number {
    const { clock, leaseMs } = this.#options;
    return this.#confirmedAt + leaseMs * leaseShares.stop - clock.monotonic();
  }

  #notify(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #lose(): void {
    if (!this.#isHeld) return;
    this.drop();
    this.#options.onLost();
  }

  /** Asks the store at once whether the lease still stands. */
  #markStale(): void {
    if (this.#isStale || !this.#isHeld) return;
    this.#isStale = true;
    this.#staleSince = this.#options.clock.monotonic();
    this.#renewing.within(0);
  }

  /** Also while it is stale: the renewal that is under way was sent before this pause. */
  #onPause(): void {
    this.#isStale = false;
    this.#markStale();
  }

  /** Runs also while a renewal is on its way: a store that never answers must not keep an owner at work. */
  #stopInTime(): void {
    this.#cancelStop();
    this.#cancelStop = this.#options.clock.after(Math.max(0, this.#leftMs), () => this.#lose(), { idle: true });
  }

  #answered(isRenewed: boolean, sentAt: number): void {
    if (!isRenewed) {
      this.#lose();
      return;
    }
    // Answers may come out of order: a later renewal does not wait for an earlier one.
    this.#confirmedAt = Math.max(this.#confirmedAt, sentAt);
    if (this.#leftMs <= 0) {
      this.#lose();
      return;
    }
    this.#stopInTime();
    if (!this.#pauses.stoodStill && sentAt >= this.#staleSince) this.#isStale = false;
    // The waiting caller works under the lease without checking it again.
    if (this.#isStale) this.#renewing.within(driverLimits.askAgainCapMs);
    else if (this.isConfirmed) this.#notify();
  }
}
