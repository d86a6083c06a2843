/** One number that an experiment measured, and what it has to be. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit?: string;
  /** Default: it is reported, not judged. */
  readonly bound?: { readonly most: number } | { readonly least: number } | { readonly exactly: number };
}

/** What an experiment found. */
export interface Outcome {
  readonly figures: readonly Figure[];
  /** What was wrong, each in one line. */
  readonly failures: readonly string[];
}

/** One way to hurt a running system, at a size. */
export interface Experiment {
  /** As `--only` names it. */
  readonly name: string;
  /** Runs beside others, which are not measured in time. */
  readonly isBeside?: boolean;
  /** Measures time: nothing else may run. */
  readonly isTimed?: boolean;
  /** A reason not to run it here. */
  readonly skip?: () => string | undefined;
  run(seed: number, say: (line: string) => void): Promise<Outcome>;
}

/** Whether the number is what it has to be. */
export function isWithin({ value, bound }: Figure): boolean {
  if (!bound) return true;
  if ("most" in bound) return value <= bound.most;
  return "least" in bound ? value >= bound.least : value === bound.exactly;
}

/** The share of the values that is not above the answer; 0 for none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? 0;
}
