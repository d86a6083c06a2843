import { storeLimits } from "./store-limits.ts";

/** The results in the order of the items; at most `parallelMax` are under way at once. Rejects as soon as one does, or the signal is aborted. */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
  signal?: AbortSignal,
): Promise<readonly Result[]> {
  const results: Result[] = new Array(items.length);
  const rest = items.entries();
  const lane = async (): Promise<void> => {
    for (const [at, item] of rest) {
      signal?.throwIfAborted();
      results[at] = await work(item);
    }
  };
  await Promise.all(Array.from({ length: Math.min(storeLimits.parallelMax, items.length) }, lane));
  return results;
}
