/**
 * A hit at rank r of a list is worth 1 / (60 + r): a hit that several lists have high comes before one that a single list has at its top.
 * @see https://plg.uwaterloo.ca/~gvcormac/cormacksigir09-rrf.pdf (2026-11-23)
 */
const smoothing = 60;

/** Several rankings joined by reciprocal rank fusion, best first; ties keep the order of the first list. */
export function fusedRanks<Item>(
  rankings: readonly (readonly Item[])[],
  keyOf: (item: Item) => string,
): readonly { readonly item: Item; readonly score: number }[] {
  const found = new Map<string, { readonly item: Item; score: number }>();
  for (const ranking of rankings)
    for (const [rank, item] of ranking.entries()) {
      const key = keyOf(item);
      const known = found.get(key) ?? { item, score: 0 };
      known.score += 1 / (smoothing + rank + 1);
      found.set(key, known);
    }
  return [...found.values()].sort((a, b) => b.score - a.score);
}
