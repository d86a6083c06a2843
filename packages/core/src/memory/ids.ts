import type { IdSource } from "../ports/id-source.ts";

const alphabet = "abcdefghijklmnopqrstuvwxyz234567";

/** Ids from Web Crypto: 48 bits of time, 80 random bits. */
export const randomIds: IdSource = {
  next() {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    let time = Date.now();
    for (let at = 5; at >= 0; at--) {
      bytes[at] = time % 256;
      time = Math.floor(time / 256);
    }
    return base32(bytes);
  },
  random: () => Math.random(),
};

/** RFC 4648 base32 in lower case, without padding: 26 characters for 16 bytes. */
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
