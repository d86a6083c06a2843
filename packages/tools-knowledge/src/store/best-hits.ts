/** The hits of the highest scores, best first; of two with the same score the one that came first. */
export class BestHits<Hit> {
  readonly #limit: number;
  readonly #hits: { readonly score: number; readonly hit: Hit }[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** `make` is asked only for a hit that is among the best until now. */
  add(score: number, make: () => Hit): void {
    const hits = this.#hits;
    if (hits.length === this.#limit && !(score > (hits.at(-1)?.score ?? Number.NEGATIVE_INFINITY))) return;
    let at = hits.length;
    while (at > 0 && (hits[at - 1]?.score ?? 0) < score) at--;
    hits.splice(at, 0, { score, hit: make() });
    if (hits.length > this.#limit) hits.pop();
  }

  list(): readonly Hit[] {
    return this.#hits.map(({ hit }) => hit);
  }
}

/** The product of two vectors of one length. */
export function productOf(one: Float32Array, other: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < one.length; at++) sum += (one[at] ?? 0) * (other[at] ?? 0);
  return sum;
}
