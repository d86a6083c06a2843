import type { IdSource } from "../ports/id-source.ts";

/** In the order of character codes, so that ids sort as their bytes do: the extended hex alphabet of RFC 4648. */
const alphabet = "0123456789abcdefghijklmnopqrstuv";

/** Random bytes for 256 ids, because a call of Web Crypto takes most of the time of an id. */
const pool = new Uint8Array(2560);
let used = pool.length;

/** The bytes and the characters of the id that is being made. */
const bytes = new Uint8Array(16);
const characters: number[] = Array.from({ length: 26 }, () => 0);

/** Ids from Web Crypto: 48 bits of time, 80 random bits. */
export const randomIds: IdSource = {
  next() {
    if (used === pool.length) {
      crypto.getRandomValues(pool);
      used = 0;
    }
    for (let at = 6; at < 16; at++) bytes[at] = pool[used++] as number;
    let time = Date.now();
    for (let at = 5; at >= 0; at--) {
      bytes[at] = time % 256;
      time = Math.floor(time / 256);
    }
    return base32();
  },
  random: () => Math.random(),
};

/** RFC 4648 base32hex in lower case, without padding: 26 characters for 16 bytes. Not built by appending, which makes a list of strings. */
function base32(): string {
  let bits = 0;
  let held = 0;
  let length = 0;
  for (let at = 0; at < 16; at++) {
    held = ((held << 8) | (bytes[at] as number)) & 0xfff;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      characters[length++] = alphabet.charCodeAt((held >> bits) & 31);
    }
  }
  characters[length] = alphabet.charCodeAt((held << (5 - bits)) & 31);
  return String.fromCharCode.apply(null, characters);
}
