import { seededRandom } from "@loopwright/core/memory";

/** Seeded choices. The same seed and the same questions give the same answers. */
export interface Dice {
  /** In [0, 1). */
  next(): number;
  /** True in this share of the cases. */
  chance(share: number): boolean;
  /** A whole number from 0 to `count - 1`. */
  below(count: number): number;
  between(least: number, most: number): number;
  /** @throws RangeError for an empty list. */
  oneOf<T>(items: readonly T[]): T;
  /** Dice of their own for one purpose, so that a question more in one place changes nothing in another. */
  fork(purpose: string): Dice;
}

export function createDice(seed: number): Dice {
  const next = seededRandom(seed);
  const below = (count: number): number => Math.floor(next() * count);
  return {
    next,
    chance: (share) => next() < share,
    below,
    between: (least, most) => least + next() * (most - least),
    oneOf(items) {
      const item = items[below(items.length)];
      if (item === undefined) throw new RangeError("There is nothing to choose from.");
      return item;
    },
    fork: (purpose) => createDice(mix(seed, purpose)),
  };
}

function mix(seed: number, purpose: string): number {
  let hash = seed ^ 0x9e37_79b9;
  for (let at = 0; at < purpose.length; at++) hash = Math.imul(hash ^ purpose.charCodeAt(at), 0x0100_0193);
  return hash >>> 0;
}
