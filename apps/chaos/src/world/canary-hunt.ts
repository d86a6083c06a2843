/* Looks for secrets in all output and files, in every shape that they may have come to. */

/** So much of a secret is already too much. */
const shownMax = 12;

interface Shape {
  readonly name: string;
  readonly text: string;
}

/** I12: what is looked through here never holds a secret: not plain, not escaped, not in hexadecimal or base64, nor its beginning. */
export class CanaryHunt {
  readonly #shapes: readonly Shape[];
  readonly #overlap: number;
  /** The end of the last piece of a place: a secret may come in two pieces. */
  readonly #tails = new Map<string, string>();
  readonly #flaws = new Set<string>();
  /** Characters that were looked through. */
  seen = 0;

  constructor(secrets: { readonly [name: string]: string }) {
    this.#shapes = Object.entries(secrets).flatMap(([name, secret]) => shapesOf(secret.slice(0, shownMax)).map((text) => ({ name, text })));
    this.#overlap = Math.max(0, ...this.#shapes.map(({ text }) => text.length - 1));
  }

  /** The next piece of the output of this place. */
  receive(place: string, piece: string): void {
    this.seen += piece.length;
    const text = (this.#tails.get(place) ?? "") + piece;
    this.#tails.set(place, text.slice(-this.#overlap));
    for (const shape of this.#shapes) if (text.includes(shape.text)) this.#flaws.add(`I12: ${shape.name} stands in ${place}`);
  }

  /** Each secret once for each place. */
  get flaws(): readonly string[] {
    return [...this.#flaws];
  }
}

/** A text as itself and as what encodings make of it, wherever it stands in what they encode. */
function shapesOf(text: string): readonly string[] {
  const inBase64 = [0, 1, 2].map((before) => {
    const encoded = Buffer.from(`${" ".repeat(before)}${text}`)
      .toString("base64")
      .replace(/=+$/, "");
    // The letters at either end stand for a part of a neighbour as well.
    const whole = Math.floor(((before + text.length) * 8) / 6);
    return encoded.slice(Math.ceil((before * 8) / 6), whole);
  });
  const plain = [text, encodeURIComponent(text), JSON.stringify(text).slice(1, -1), Buffer.from(text).toString("hex")];
  return [...new Set([...plain, ...inBase64, ...inBase64.map((one) => one.replaceAll("+", "-").replaceAll("/", "_"))])];
}
