/** How long the sessions of a scope are kept. */
export interface RetentionRule {
  readonly scope: string;
  /** A session is erased that long after its last fact, in milliseconds: a whole number from 1,000 on. */
  readonly keepMs: number;
}

/** The rules of now; of a scope without one, sessions have their own `retention` alone. Asked at each sweep. */
export type RetentionRules = () => readonly RetentionRule[] | Promise<readonly RetentionRule[]>;
