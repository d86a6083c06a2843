/** Something that must never happen, and did. */
export interface Finding {
  /** `I1` to `I16` as in the fault matrix, `S5` for no progress, `R<n>` for a row of the recovery table, `H1` to `H5` for what a host promises, `T1` to `T3` for schedules. */
  readonly invariant: string;
  readonly session: string;
  readonly message: string;
}

/** Collects findings about one session. */
export type Claim = (isSo: boolean, invariant: string, message: () => string) => void;

export function claimsInto(findings: Finding[], session: string): Claim {
  return (isSo, invariant, message) => {
    if (!isSo) findings.push({ invariant, session, message: message() });
  };
}
