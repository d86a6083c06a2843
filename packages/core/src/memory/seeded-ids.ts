import type { IdSource } from "../ports/id-source.ts";
import { seededRandom } from "./seeded-random.ts";

/** In the order of character codes, so that ids sort as their numbers do. */
const alphabet = "0123456789abcdefghijklmnopqrstuv";

/** Ids of the real shape (26 characters, sorting by age) that are the same for the same seed: a counter, then random characters. */
export function seededIds(seed: number): IdSource {
  const random = seededRandom(seed);
  let count = 0;
  return {
    next() {
      let text = "";
      for (let rest = count++, digit = 0; digit < 10; digit++, rest = Math.floor(rest / 32)) text = `${alphabet[rest % 32]}${text}`;
      for (let digit = 0; digit < 16; digit++) text += alphabet[Math.floor(random() * 32)];
      return text;
    },
    random,
  };
}
