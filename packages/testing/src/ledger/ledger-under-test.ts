import type { UsageLedger } from "@loopwright/core/ports";

/** An empty ledger with the limits of `ledgerKitLimits`. */
export interface LedgerUnderTest {
  readonly ledger: UsageLedger;
  /** Makes time pass on the clock that the ledger compares `expiresAt` with. */
  readonly pass: (ms: number) => Promise<void>;
  /** What that clock shows, in milliseconds since the epoch. */
  readonly now: () => number;
}
