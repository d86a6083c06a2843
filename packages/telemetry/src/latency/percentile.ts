/** The nearest rank: the smallest of the ascending values that `percent` of them do not exceed. `undefined` without values. */
export function percentile(ascending: readonly number[], percent: number): number | undefined {
  return ascending[Math.max(0, Math.ceil((percent / 100) * ascending.length) - 1)];
}
