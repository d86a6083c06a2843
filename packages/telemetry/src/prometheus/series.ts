/** Values by labels, of a bounded number of series. */
export interface Labelled {
  readonly [label: string]: string;
}

/** What stands in place of each label's value once a metric has its most series. */
const overflow = "other";

/** Finds the value of a series; beyond `seriesMax` they share one whose labels are all `other`. */
export class Series<Value> {
  readonly #values = new Map<string, Value>();
  readonly #seriesMax: number;
  readonly #fresh: () => Value;

  constructor(seriesMax: number, fresh: () => Value) {
    this.#seriesMax = seriesMax;
    this.#fresh = fresh;
  }

  of(labels: Labelled): Value {
    const name = textOf(labels);
    const known = this.#values.get(name);
    if (known !== undefined) return known;
    const isFull = this.#values.size >= this.#seriesMax - 1;
    const kept = isFull ? textOf(Object.fromEntries(Object.keys(labels).map((label) => [label, overflow]))) : name;
    const value = this.#values.get(kept) ?? this.#fresh();
    this.#values.set(kept, value);
    return value;
  }

  *[Symbol.iterator](): IterableIterator<readonly [labels: string, value: Value]> {
    yield* this.#values;
  }
}

const valueMax = 120;

function textOf(labels: Labelled): string {
  const escaped = (value: string): string => value.slice(0, valueMax).replace(/["\\]/g, "\\$&").replaceAll("\n", "\\n");
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(",");
}
