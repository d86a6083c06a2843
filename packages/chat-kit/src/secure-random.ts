import { randomInt } from "node:crypto";

const range = 2 ** 32;

/** A number in [0, 1) that cannot be guessed. */
export const secureRandom = (): number => randomInt(range) / range;
