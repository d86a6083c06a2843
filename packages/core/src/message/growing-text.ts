/** Pieces that are joined at once. */
const piecesMax = 512;

/**
 * A text that grows piece by piece, at constant cost for each. Pieces are joined in groups, so that a million of one character cost little more than
 * their characters, and none keeps the read alive that it was cut out of.
 */
export class GrowingText {
  #whole = "";
  #pieces: string[] = [];

  add(piece: string): void {
    this.#pieces.push(piece);
    if (this.#pieces.length >= piecesMax) this.#join();
  }

  /** All of it. Read again it costs nothing. */
  toString(): string {
    if (this.#pieces.length > 0) this.#join();
    return this.#whole;
  }

  #join(): void {
    this.#whole += this.#pieces.join("");
    this.#pieces = [];
  }
}
