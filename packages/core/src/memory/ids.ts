import type { IdSource } from "../ports/id-source.ts";

/** In the order of character codes, so that ids sort as their bytes do: the extended hex alphabet of RFC 4648. */
const alphabet = "0123456789abcdefghijklmnopqrstuv";

/** Random bytes for 256 ids: asking Web Crypto for a few at a time is most of what an id costs. */
const pool = new Uint8Array(2560);
let used = pool.length;

/** Ids from Web Crypto: 48 bits of time, 80 random bits. */
export const randomIds: IdSource = {
  next() {
    if (used === pool.length) {
      crypto.getRandomValues(pool);
      used = 0;
    }
    const bytes = new Uint8Array(16);
    bytes.set(pool.subarray(used, used + 10), 6);
    used += 10;
    let time = Date.now();
    for (let at = 5; at >= 0; at--) {
      bytes[at] = time % 256;
      time = Math.floor(time / 256);
    }
    return base32(bytes);
  },
  random: () => Math.random(),
};

/** RFC 4648 base32hex in lower case, without padding: 26 characters for 16 bytes. */
function base32(bytes: Uint8Array): string {
  let text = "";
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    held = ((held << 8) | byte) & 0xfff;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += alphabet[(held >> bits) & 31];
    }
  }
  if (bits > 0) text += alphabet[(held << (5 - bits)) & 31];
  return text;
}
