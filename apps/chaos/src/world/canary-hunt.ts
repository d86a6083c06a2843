import { type CanaryStream, canaryScanner } from "@loopwright/testing";

/** So much of a secret is already too much. */
const shownMax = 12;

/** I12: what is looked through here never holds a secret, in no form, nor its beginning or end. */
export class CanaryHunt {
  readonly #scanner: ReturnType<typeof canaryScanner>;
  readonly #streams = new Map<string, CanaryStream>();
  readonly #flaws = new Set<string>();
  /** Characters and bytes that were looked through. */
  seen = 0;

  constructor(secrets: { readonly [name: string]: string }) {
    this.#scanner = canaryScanner(Object.entries(secrets).map(([name, text]) => ({ name, text, partMin: shownMax })));
  }

  /** The next piece of the output of this place: a secret may come in two pieces. */
  receive(place: string, piece: string | Uint8Array): void {
    this.seen += piece.length;
    const stream = this.#streams.get(place) ?? this.#scanner.stream();
    this.#streams.set(place, stream);
    for (const { canary } of stream.receive(piece)) this.#flaws.add(`I12: ${canary} stands in ${place}`);
  }

  /** Each secret once for each place. */
  get flaws(): readonly string[] {
    return [...this.#flaws];
  }
}
