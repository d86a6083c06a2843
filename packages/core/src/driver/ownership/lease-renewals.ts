/*
 * Owns: the dates of lease renewals, the number of leases in one command, and the retries of failed renewals.
 * Does not own: the consequences of the answer (lease).
 * Invariants
 *  R1 a renewal that failed, or that has no answer yet, is soon sent again. So an owner stops only after a long outage of the store, whenever the
 *     outage begins (decision 0022);
 *  R2 there is one timer per store and clock: the leases of a process are renewed together if the store supports that.
 */
import { isAgentError } from "../../errors.ts";
import type { SessionStorage } from "../../memory/store/private-store.ts";
import type { Clock } from "../../ports/clock.ts";
import type { LeaseRenewal } from "../../ports/session-log.ts";
import { driverLimits } from "../setup/driver-limits.ts";
import { leaseShares } from "../setup/lease-shares.ts";

/** A lease with renewals. */
export interface RenewedLease extends LeaseRenewal {
  /** Called with the answer to a renewal that was sent at `sentAt` of the monotonic clock. Not called without an answer. */
  answered(isRenewed: boolean, sentAt: number): void;
}

/** The renewals of one lease. */
export interface Renewing {
  /** Requests a renewal within this many milliseconds; 0: now. */
  within(ms: number): void;
  end(): void;
}

interface Entry {
  readonly lease: RenewedLease;
  /** The time of the next renewal, by the monotonic clock. */
  nextAt: number;
}

class LeaseRenewals {
  readonly #log: SessionStorage["log"];
  readonly #clock: Clock;
  readonly #entries = new Set<Entry>();
  #cancel = (): void => {};
  #plannedAt = Number.POSITIVE_INFINITY;

  constructor(log: SessionStorage["log"], clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  keep(lease: RenewedLease, confirmedAt: number): Renewing {
    const entry: Entry = { lease, nextAt: confirmedAt + lease.leaseMs * leaseShares.renew };
    this.#entries.add(entry);
    this.#planBy(entry.nextAt);
    return {
      within: (ms) => {
        if (ms <= 0) this.#send([entry]);
        else this.#hasten(entry, ms);
      },
      end: () => {
        this.#entries.delete(entry);
        if (this.#entries.size === 0) this.#stop();
      },
    };
  }

  #stop(): void {
    this.#cancel();
    this.#plannedAt = Number.POSITIVE_INFINITY;
  }

  #hasten(entry: Entry, ms: number): void {
    entry.nextAt = Math.min(entry.nextAt, this.#clock.monotonic() + ms);
    this.#planBy(entry.nextAt);
  }

  /** Makes the timer fire at this time or earlier. */
  #planBy(at: number): void {
    if (at >= this.#plannedAt || this.#entries.size === 0) return;
    this.#cancel();
    this.#plannedAt = at;
    this.#cancel = this.#clock.after(Math.max(0, at - this.#clock.monotonic()), () => this.#look(), { idle: true });
  }

  /** Also renews leases that are nearly due, so that leases which were claimed at different times share a command. */
  #look(): void {
    this.#plannedAt = Number.POSITIVE_INFINITY;
    const now = this.#clock.monotonic();
    if ([...this.#entries].some(({ nextAt }) => nextAt <= now))
      this.#send([...this.#entries].filter(({ nextAt, lease }) => nextAt <= now + lease.leaseMs * leaseShares.together));
    let nextAt = Number.POSITIVE_INFINITY;
    for (const entry of this.#entries) nextAt = Math.min(nextAt, entry.nextAt);
    if (nextAt < Number.POSITIVE_INFINITY) this.#planBy(nextAt);
  }

  #send(entries: readonly Entry[]): void {
    const now = this.#clock.monotonic();
    for (const entry of entries) {
      entry.nextAt = now + entry.lease.leaseMs * leaseShares.answer;
      this.#planBy(entry.nextAt);
    }
    const most = this.#log.renewAll ? driverLimits.renewalsPerCommand : 1;
    for (let from = 0; from < entries.length; from += most) void this.#ask(entries.slice(from, from + most));
  }

  async #ask(entries: readonly Entry[]): Promise<void> {
    const sentAt = this.#clock.monotonic();
    let answers: readonly (boolean | undefined)[] = [];
    try {
      answers = await this.#answersTo(entries);
    } catch (error) {
      // An unavailable store is unavailable for all leases. Any other fault may be of one session, so that each lease is renewed alone.
      if (entries.length > 1 && !isAgentError(error, "STORE_UNAVAILABLE")) {
        for (const entry of entries) void this.#ask([entry]);
        return;
      }
    }
    for (const [index, entry] of entries.entries()) this.#received(entry, answers[index], sentAt);
  }

  async #answersTo(entries: readonly Entry[]): Promise<readonly boolean[]> {
    const [first, ...others] = entries.map(({ lease: { ref, epoch, leaseMs } }) => ({ ref, epoch, leaseMs }));
    if (!first) return [];
    if (others.length > 0 && this.#log.renewAll) return this.#log.renewAll([first, ...others]);
    return [await this.#log.renew(first.ref, { epoch: first.epoch, leaseMs: first.leaseMs })];
  }

  #received(entry: Entry, answer: boolean | undefined, sentAt: number): void {
    if (!this.#entries.has(entry)) return;
    const { lease } = entry;
    if (answer === undefined) {
      this.#hasten(entry, lease.leaseMs * leaseShares.retry);
      return;
    }
    if (answer) {
      entry.nextAt = sentAt + lease.leaseMs * leaseShares.renew;
      this.#planBy(entry.nextAt);
    }
    lease.answered(answer, sentAt);
  }
}

const known = new WeakMap<Clock, WeakMap<SessionStorage["log"], LeaseRenewals>>();

/** Renews the lease until `end` is called. `confirmedAt`: when the store last confirmed the lease, by the monotonic clock. */
export function renewLease(
  lease: RenewedLease,
  { log, clock, confirmedAt }: { readonly log: SessionStorage["log"]; readonly clock: Clock; readonly confirmedAt: number },
): Renewing {
  const ofClock = known.get(clock) ?? new WeakMap<SessionStorage["log"], LeaseRenewals>();
  known.set(clock, ofClock);
  const renewals = ofClock.get(log) ?? new LeaseRenewals(log, clock);
  ofClock.set(log, renewals);
  return renewals.keep(lease, confirmedAt);
}
