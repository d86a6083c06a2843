/*
 * Owns: one held lease of a session, and from when on another process may hold the lease. Does not own: when it is renewed (lease-renewals).
 * Invariants
 *  L1 the time of the lease counts from before a renewal is sent, on the monotonic clock: neither the wall clock nor a late answer matters;
 *  L2 after a pause of the process nothing is done under the lease before the store has confirmed it again.
 */

import type { SessionStorage } from "../../memory/store/private-store.ts";
import type { Clock } from "../../ports/clock.ts";
import type { SessionRef } from "../../ports/session-log.ts";
import { retryStoreRequest } from "../log/retry-store-request.ts";
import { driverLimits } from "../setup/driver-limits.ts";
import { leaseShares } from "../setup/lease-shares.ts";
import { watchPauses } from "./detect-pauses.ts";
import { type Renewing, renewLease } from "./lease-renewals.ts";

/** A held lease of a session, renewed until it is dropped or lost. */
export interface Lease {
  readonly epoch: number;
  /** False if another process may hold the lease: then nothing may be done under it. Reads the clock once. */
  readonly isConfirmed: boolean;
  /** Resolves when the store has confirmed the lease, or the lease is dropped or lost. */
  confirm(): Promise<void>;
  /** Stops renewing the lease, without a request to the store. */
  drop(): void;
}

export interface LeaseOptions {
  readonly log: SessionStorage["log"];
  readonly ref: SessionRef;
  readonly clock: Clock;
  readonly node: string;
  readonly leaseMs: number;
  /** True if no other process can claim the lease: it is neither renewed nor watched. */
  readonly isPrivate?: boolean;
  /** Called when another process may have taken over: nothing may be done under this epoch any more. */
  readonly onLost: () => void;
}

/** The claimed lease and the last seq of the log; or how long the lease of another node still runs if that node does not renew it. */
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
  const outcome = isPrivate ? await claim() : await retryStoreRequest(claim, { clock, staysFor: () => 0, answerMs: driverLimits.appendMs });
  if (outcome.type === "held") return outcome;
  const lease = isPrivate ? new PrivateLease(outcome.epoch) : new HeldLease(options, outcome.epoch, askedAt);
  return { type: "claimed", lease, lastSeq: outcome.lastSeq };
}

/** The lease of a session in a private store: it holds until it is dropped, also after a long pause of the process. */
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
  /** True if the process was paused, and the store has not confirmed the lease since. */
  #isStale = false;
  /** The end of that pause: a renewal that was sent earlier confirms nothing. */
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

  /** The time until the lease may have expired. */
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

  /** Asks the store at once to confirm the lease. */
  #markStale(): void {
    if (this.#isStale || !this.#isHeld) return;
    this.#isStale = true;
    this.#staleSince = this.#options.clock.monotonic();
    this.#renewing.within(0);
  }

  /** Also called while the lease is stale, because the renewal in progress was sent before this pause. */
  #onPause(): void {
    this.#isStale = false;
    this.#markStale();
  }

  /** The timer runs also during a renewal, because an owner must stop if the store never answers. */
  #stopInTime(): void {
    this.#cancelStop();
    this.#cancelStop = this.#options.clock.after(Math.max(0, this.#leftMs), () => this.#lose(), { idle: true });
  }

  #answered(isRenewed: boolean, sentAt: number): void {
    if (!isRenewed) {
      this.#lose();
      return;
    }
    // Answers may come out of order, because a renewal does not wait for the one before it.
    this.#confirmedAt = Math.max(this.#confirmedAt, sentAt);
    if (this.#leftMs <= 0) {
      this.#lose();
      return;
    }
    this.#stopInTime();
    if (!this.#pauses.stoodStill && sentAt >= this.#staleSince) this.#isStale = false;
    // Callers that wait are notified only of a confirmed lease, because they work under it without another check.
    if (this.#isStale) this.#renewing.within(driverLimits.askAgainCapMs);
    else if (this.isConfirmed) this.#notify();
  }
}
