import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

/** Bytes of a key: AES-256. */
export const keyBytes = 32;

const version = 1;
const nonceBytes = 12;
const tagBytes = 16;
const headBytes = 1 + nonceBytes + tagBytes;

/**
 * Encrypts with AES-256-GCM under a fresh random nonce. `place` is authenticated with it: what was encrypted for one place cannot be opened at another.
 * The result is the version, the nonce, the tag, and as many bytes as were given. One key may seal some billion values.
 */
export function seal(key: Uint8Array, plain: Uint8Array | string, place: readonly unknown[]): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv("aes-256-gcm", key, nonce);
  cipher.setAAD(Buffer.from(JSON.stringify(place)));
  const body = typeof plain === "string" ? cipher.update(plain, "utf8") : cipher.update(plain);
  const rest = cipher.final();
  return Buffer.concat([Uint8Array.of(version), nonce, cipher.getAuthTag(), body, rest]);
}

/** What was sealed for this place under this key; `undefined` when it was not, or was changed since. */
export function open(key: Uint8Array, sealed: Uint8Array, place: readonly unknown[]): Buffer | undefined {
  if (sealed.byteLength < headBytes || sealed[0] !== version) return undefined;
  try {
    const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(1, 1 + nonceBytes));
    decipher.setAAD(Buffer.from(JSON.stringify(place)));
    decipher.setAuthTag(sealed.subarray(1 + nonceBytes, headBytes));
    return Buffer.concat([decipher.update(sealed.subarray(headBytes)), decipher.final()]);
  } catch {
    // The tag does not fit: another key, another place, or changed bytes.
    return undefined;
  }
}
