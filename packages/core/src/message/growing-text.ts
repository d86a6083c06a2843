/** How many pieces are joined at once. */
const piecesMax = 512;

/**
 * A text that grows piece by piece, in constant time for each. Pieces are joined in groups: a million pieces of one character take little more memory than
 * their characters, and no piece keeps the text in memory that it was cut from.
 */
export class GrowingText {
  #whole = "";
  #pieces: string[] = [];

  add(piece: string): void {
    this.#pieces.push(piece);
    if (this.#pieces.length >= piecesMax) this.#join();
  }

  /** The whole text. A second read joins nothing. */
  toString(): string {
    if (this.#pieces.length > 0) this.#join();
    return this.#whole;
  }

  #join(): void {
    this.#whole += this.#pieces.join("");
    this.#pieces = [];
  }
}
