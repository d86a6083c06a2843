/** Draws that a seed determines. */
export interface RandomSource {
  /** A whole number, both ends included. */
  between(least: number, most: number): number;
  pick<T>(items: readonly T[]): T;
  shuffle<T>(items: readonly T[]): readonly T[];
  /** A made-up name of two or three syllables. */
  name(): string;
}

const starts = ["Var", "Hol", "Ked", "Mor", "Tis", "Ulv", "Bre", "Oster", "Sil", "Gran", "Fen", "Wes"];
const middles = ["", "a", "en", "i", "or", "und"];
const ends = ["holt", "by", "mark", "stad", "lund", "vik", "berg", "fjord", "heim", "nes"];

/** Mulberry32: small, and the same on every platform. */
export function randomOf(seed: number): RandomSource {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1));
  const pick = <T>(items: readonly T[]): T => items[between(0, items.length - 1)] as T;
  return {
    between,
    pick,
    shuffle(items) {
      const mixed = [...items];
      for (let at = mixed.length - 1; at > 0; at--) {
        const other = between(0, at);
        [mixed[at], mixed[other]] = [mixed[other] as (typeof mixed)[number], mixed[at] as (typeof mixed)[number]];
      }
      return mixed;
    },
    name: () => `${pick(starts)}${pick(middles)}${pick(ends)}`,
  };
}
