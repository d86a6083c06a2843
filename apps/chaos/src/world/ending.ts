/** One process and its end. */
export interface Ending {
  readonly name: string;
  /** Exit code, or the signal that it died of. */
  readonly end: number | string | null;
  /** What it complained about. */
  readonly complaints: string;
}
