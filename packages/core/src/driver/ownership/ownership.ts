/*
 * Owns: whether this process owns the session: claiming, holding and giving back its lease.
 * Does not own: when an owner is needed, what becomes of its effects (the driver).
 */
import type { Deps } from "../setup/deps.ts";
import { claimLease, type Lease } from "./lease.ts";
import { createRivalLease, type RivalLease } from "./rival-lease.ts";

/** The lease of one session, while this process holds it. */
export interface Ownership {
  readonly lease: Lease | undefined;
  /** False while the lease of another node may run: a claim would be refused. */
  readonly mayClaim: boolean;
  /** While true it is looked whether the lease of another node still runs. */
  readonly awaitTurn: (isNeeded: boolean) => void;
  /** Gives where the log ended when it was claimed; `undefined` while another holds it. @throws AgentError STORE_* */
  claim(): Promise<number | undefined>;
  /** Stops renewing; the log is not told. */
  drop(): void;
  /** Gives it back. A lease that the store does not take back runs out by itself. */
  release(): Promise<void>;
}

export interface OwnershipOptions {
  /** Another may have taken over; `onTurn` follows. */
  readonly onLost: () => void;
  /** The session may be claimed now. */
  readonly onTurn: () => void;
}

export function createOwnership(deps: Deps, options: OwnershipOptions): Ownership {
  return new SessionOwnership(deps, options);
}

class SessionOwnership implements Ownership {
  readonly #deps: Deps;
  readonly #onLost: () => void;
  readonly #onTurn: () => void;
  /** Made when there is one to wait for. */
  #rival: RivalLease | undefined;
  lease: Lease | undefined;

  constructor(deps: Deps, { onLost, onTurn }: OwnershipOptions) {
    this.#deps = deps;
    this.#onTurn = onTurn;
    this.#onLost = () => {
      onLost();
      onTurn();
    };
  }

  get mayClaim(): boolean {
    return !this.#rival?.mayRun();
  }

  readonly awaitTurn = (isNeeded: boolean): void => {
    if (isNeeded) this.#knownRival().need(true);
    else this.#rival?.need(false);
  };

  async claim(): Promise<number | undefined> {
    const { store, ref, clock, node, leaseMs, isPrivate } = this.#deps;
    const claimed = await claimLease({ log: store.log, ref, clock, node, leaseMs, isPrivate, onLost: this.#onLost });
    if (claimed.type === "held") {
      this.#knownRival().refused(claimed.remainingMs);
      return undefined;
    }
    this.#rival?.forget();
    this.lease = claimed.lease;
    return claimed.lastSeq;
  }

  #knownRival(): RivalLease {
    this.#rival ??= createRivalLease(this.#deps, this.#onTurn);
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
