/*
 * Owns: whether this process owns the session: claiming, holding and giving back its lease.
 * Does not own: when an owner is needed, what becomes of its effects (the driver).
 */
import type { Deps } from "./deps.ts";
import { claimLease, type Lease } from "./lease.ts";
import { createRivalLease } from "./rival-lease.ts";

/** The lease of one session, while this process holds it. */
export interface Ownership {
  readonly lease: Lease | undefined;
  /** False while the lease of another node may run: a claim would be refused. */
  readonly mayClaim: boolean;
  /** While true it is looked whether the lease of another node still runs. */
  awaitTurn(isNeeded: boolean): void;
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

export function createOwnership(deps: Deps, { onLost, onTurn }: OwnershipOptions): Ownership {
  const { store, ref, clock, node, leaseMs } = deps;
  const rival = createRivalLease(deps, onTurn);
  const lost = (): void => {
    onLost();
    onTurn();
  };
  let lease: Lease | undefined;
  const drop = (): void => {
    lease?.drop();
    lease = undefined;
  };
  return {
    get lease() {
      return lease;
    },
    get mayClaim() {
      return !rival.mayRun;
    },
    awaitTurn: rival.need,
    async claim() {
      const claimed = await claimLease({ log: store.log, ref, clock, node, leaseMs, onLost: lost });
      if (claimed.type === "held") {
        rival.refused(claimed.remainingMs);
        return undefined;
      }
      rival.forget();
      lease = claimed.lease;
      return claimed.lastSeq;
    },
    drop,
    async release() {
      const held = lease;
      drop();
      if (held) await store.log.release(ref, held.epoch).catch(() => {});
    },
  };
}
