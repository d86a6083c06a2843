import type { SeedsReport } from "@loopwright/simulator";

/** What one process of many simulates. */
export interface SeedsShare {
  readonly from: number;
  readonly count: number;
  readonly limitMs: number;
  /** Lets other processes go first. */
  readonly isPolite: boolean;
}

/** What it found; failures as text, for they travel. */
export interface ShareReport extends Omit<SeedsReport, "failures"> {
  readonly failures: readonly string[];
}
