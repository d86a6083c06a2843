/*
 * Owns: whether this process owns the session: claiming, holding and giving back its lease.
 * Does not own: when an owner is needed, what becomes of its effects (the driver).
 */
import type { Deps } from "./deps.ts";
import { claimLease, type Lease } from "./lease.ts";

/** The lease of one session, while this process holds it. */
export interface Ownership {
  readonly lease: Lease | undefined;
  /** Gives where the log ended when it was claimed; `undefined` while another holds it. @throws AgentError STORE_* */
  claim(): Promise<number | undefined>;
  /** Stops renewing; the log is not told. */
  drop(): void;
  /** Gives it back. A lease that the store does not take back runs out by itself. */
  release(): Promise<void>;
}

/** `onLost`: another may have taken over. */
export function createOwnership({ store, ref, clock, node, leaseMs }: Deps, onLost: () => void): Ownership {
  let lease: Lease | undefined;
  const drop = (): void => {
    lease?.drop();
    lease = undefined;
  };
  return {
    get lease() {
      return lease;
    },
    async claim() {
      const claimed = await claimLease({ log: store.log, ref, clock, node, leaseMs, onLost });
      lease = claimed?.lease;
      return claimed?.lastSeq;
    },
    drop,
    async release() {
      const held = lease;
      drop();
      if (held) await store.log.release(ref, held.epoch).catch(() => {});
    },
  };
}
