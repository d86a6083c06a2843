/** New ids: 16 bytes, time-prefixed, base32hex in lower case (26 characters of `[0-9a-v]`), so that they sort by age. */
export interface IdSource {
  /** An id that was never given before, by this source or another. */
  next(): string;
  /** A number in [0, 1), for jitter. */
  random(): number;
}
