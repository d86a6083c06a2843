/** A figure that has a goal. */
export interface Judged {
  readonly value: number;
  /** Largest value that meets the goal. */
  readonly goal?: number;
}

/** One line of the table. */
export interface Row {
  /** Of the scene, or of what it states beside scenes. */
  readonly id: string;
  readonly title: string;
  /** What the ratios are ratios to, for example `10.1 us/delta`; or what the values are. */
  readonly basis: string;
  readonly raw?: number;
  /** Beside `raw`, where it is measured: by hand over `node:http`. */
  readonly rawNode?: number;
  readonly loopwright?: Judged;
  readonly node?: Judged;
  /** How far the ratios of single rounds lie from one another. */
  readonly spread?: string;
  /** How figures are written. Default: a ratio. */
  readonly format?: "ratio" | "MB" | "KB" | "ms" | "µs" | "%";
}

export const isMissed = ({ value, goal }: Judged): boolean => goal !== undefined && !(value <= goal);

export const isMissedRow = ({ loopwright, node }: Row): boolean =>
  [loopwright, node].some((judged) => judged !== undefined && isMissed(judged));
