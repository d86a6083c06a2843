/*
 * Owns: claiming, holding and releasing the lease of the session by this process.
 * Does not own: when an owner is needed, what happens to its effects (the driver).
 */
import type { Deps } from "../setup/session-deps.ts";
import { claimLease, type Lease } from "./held-lease.ts";
import { createRivalLease, type RivalLease } from "./lease-of-other-node.ts";

/** The lease of one session, while this process holds it. */
export interface Ownership {
  readonly lease: Lease | undefined;
  /** False while the lease of another node may run: a claim would be refused. */
  readonly mayClaim: boolean;
  /** True: checks the lease of another node until that lease has expired. False: stops the checks. */
  trackTakeover(isActive: boolean): void;
  /** Forbids claims for this time, as if another node held the lease. 0: allows them again. */
  defer(ms: number): void;
  /** Called when the other node has released its lease: the next claim does not wait. */
  rivalLeft(): void;
  /** Claims the lease. Resolves with the last seq of the log; `undefined` while another node holds the lease. @throws AgentError STORE_* */
  claim(): Promise<number | undefined>;
  /** Stops renewing the lease, without a request to the store. */
  drop(): void;
  /** Releases the lease. If the store cannot be reached, the lease expires by itself. */
  release(): Promise<void>;
}

/** What the ownership reports to its session. */
export interface OwnershipHost {
  /** Called when another process may have taken over; `wake` follows. */
  leaseLost(): void;
  /** Called when the session may be claimed. */
  wake(): void;
}

export function createOwnership(deps: Deps, session: OwnershipHost): Ownership {
  return new SessionOwnership(deps, session);
}

class SessionOwnership implements Ownership {
  readonly #deps: Deps;
  readonly #session: OwnershipHost;
  /** Created on first use. */
  #rival: RivalLease | undefined;
  lease: Lease | undefined;

  constructor(deps: Deps, session: OwnershipHost) {
    this.#deps = deps;
    this.#session = session;
  }

  get mayClaim(): boolean {
    return !this.#rival?.mayRun();
  }

  trackTakeover(isActive: boolean): void {
    if (isActive) this.#rivalLease().setActive(true);
    else this.#rival?.setActive(false);
  }

  defer(ms: number): void {
    if (ms > 0) this.#rivalLease().refused(ms);
    else this.#rival?.forget();
  }

  rivalLeft(): void {
    this.#rival?.forget();
  }

  async claim(): Promise<number | undefined> {
    const { store, ref, clock, node, leaseMs, isPrivate } = this.#deps;
    const onLost = (): void => {
      this.#session.leaseLost();
      this.#session.wake();
    };
    const claimed = await claimLease({ log: store.log, ref, clock, node, leaseMs, isPrivate, onLost });
    if (claimed.type === "held") {
      this.#rivalLease().refused(claimed.remainingMs);
      return undefined;
    }
    this.#rival?.forget();
    this.lease = claimed.lease;
    return claimed.lastSeq;
  }

  #rivalLease(): RivalLease {
    this.#rival ??= createRivalLease(this.#deps, () => this.#session.wake());
    return this.#rival;
  }

  drop(): void {
    this.lease?.drop();
    this.lease = undefined;
  }

  async release(): Promise<void> {
    const held = this.lease;
    this.drop();
    const { store, ref } = this.#deps;
    if (held) await store.log.release(ref, held.epoch).catch(() => {});
  }
}
