import type { ProfileSummary } from "./profile-summary.ts";

/** What one process measured of itself. */
export interface Measurement {
  /** CPU time of all threads for one unit, in microseconds. */
  readonly cpuUs: number;
  /** Of one run. */
  readonly wallMs: number;
  /** Largest resident set of the process. */
  readonly peakMb: number;
  /** Opening the conversation that then stays open. */
  readonly open?: { readonly cpuMs: number; readonly wallMs: number };
  /** Bytes the store appended to its write-ahead log for one unit. */
  readonly writtenBytes?: number;
  readonly profile?: ProfileSummary;
}
