/** A sorted list. Places are found by binary search, so that neither a change nor a page reads all values. No two values may be equal in order. */
export class Ordered<Key, T extends Key> {
  readonly #order: (a: Key, b: Key) => number;
  readonly #values: T[] = [];

  constructor(order: (a: Key, b: Key) => number) {
    this.#order = order;
  }

  /** The number of values before the key. */
  placeOf(key: Key): number {
    let [from, to] = [0, this.#values.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (this.#order(this.#values[middle] as T, key) < 0) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  get size(): number {
    return this.#values.length;
  }

  at(place: number): T | undefined {
    return this.#values[place];
  }

  add(value: T): void {
    this.#values.splice(this.placeOf(value), 0, value);
  }

  /** What decides the order must not have changed since `add`. */
  delete(value: T): void {
    const place = this.placeOf(value);
    if (this.#values[place] === value) this.#values.splice(place, 1);
  }
}
