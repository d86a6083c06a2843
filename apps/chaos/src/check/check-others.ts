/* Whether the damage of one session stays with it. */

/** What one node shows once all had their time. */
export interface Sight {
  readonly node: string;
  /** Sessions whose last run was completed. */
  readonly completed: readonly string[];
  readonly listed: readonly string[];
  readonly found: readonly string[];
  /** Error code with which the damaged session is answered. */
  readonly damagedCode: string;
}

/** P15: all other sessions are completed, listed and found, and the damaged one is reported. */
export function checkOthers(
  { node, damagedCode, ...sight }: Sight,
  { damaged, others }: { readonly damaged: string; readonly others: readonly string[] },
): readonly string[] {
  const flaws = (["completed", "listed", "found"] as const).flatMap((how) => {
    const missing = others.filter((id) => !sight[how].includes(id));
    return missing.length === 0 ? [] : [`P15: beside ${damaged}, ${node} does not show as ${how}: ${missing.join(", ")}`];
  });
  return damagedCode === "SESSION_CORRUPT" ? flaws : [...flaws, `P15: ${node} answers for ${damaged} with ${damagedCode}`];
}
