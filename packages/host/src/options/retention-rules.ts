/** How long the sessions of a scope are kept. */
export interface RetentionRule {
  readonly scope: string;
  /** The time from the last fact of a session to its erasure, in milliseconds: a whole number of at least 1,000. */
  readonly keepMs: number;
}

/** Returns the current rules; called at each sweep. In a scope without a rule only the `retention` of each session decides. */
export type RetentionRules = () => readonly RetentionRule[] | Promise<readonly RetentionRule[]>;
