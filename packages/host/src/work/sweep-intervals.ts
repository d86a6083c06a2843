import type { HostLimits } from "../options/host-limits.ts";

/** How often a process sweeps its store for sessions that need an owner. */
export interface SweepIntervals {
  readonly sweepMs: number;
  /** The longest pause between sweeps that find nothing. */
  readonly idleSweepMs: number;
}

interface SweptStore {
  /** True if a queue hints at the sessions that other processes leave behind, or if there are no other processes. */
  readonly isHinted: boolean;
  /** True if the store reports changes. In a store that does not, each sweep is a request that costs money. */
  readonly isFree: boolean;
}

/** Without hints the sweeps are frequent. A store in which sweeps cost money is swept less often while there is nothing to do. */
export function sweepIntervals({ sweepMs, pollMs }: HostLimits, { isHinted, isFree }: SweptStore): SweepIntervals {
  const everyMs = isHinted ? sweepMs : pollMs;
  return { sweepMs: everyMs, idleSweepMs: isFree ? everyMs : sweepMs };
}
