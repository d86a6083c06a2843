/** New ids: 16 bytes, time-prefixed, base32 in lower case (26 characters of `[a-z2-7]`), so that they sort by age. */
export interface IdSource {
  next(): string;
  /** A number in [0, 1), for jitter. */
  random(): number;
}
