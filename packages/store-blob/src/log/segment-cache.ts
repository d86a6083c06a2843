import { storeLimits } from "../store-limits.ts";

/** The segments that were read last, opened: a reader of a long log page by page asks for each of them once. */
export class SegmentCache {
  readonly #lines = new Map<string, readonly string[]>();

  get(key: string): readonly string[] | undefined {
    return this.#lines.get(key);
  }

  keep(key: string, lines: readonly string[]): void {
    this.#lines.delete(key);
    this.#lines.set(key, lines);
    const [oldest] = this.#lines.keys();
    if (this.#lines.size > storeLimits.keptSegmentsMax && oldest !== undefined) this.#lines.delete(oldest);
  }
}
