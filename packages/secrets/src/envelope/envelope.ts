/*
 * Owns: authenticated encryption of one value under one key: AES-256-GCM with a random nonce, bound to what it is for. Secrets, keys and the content of
 *  sessions are encrypted by it alone.
 * Does not own: keys (key-ring), what is encrypted.
 * Invariant
 *  N1 a value opens under its own key at its own place alone, whole and unchanged.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

/** Bytes of a key. */
export const keyBytes = 32;

/** The first byte, so that a reader can distinguish a later form. */
const form = 1;
const nonceBytes = 12;
const tagBytes = 16;
const headBytes = 1 + nonceBytes;

/** Random bytes of a new key. */
export const randomKey = (): Uint8Array<ArrayBuffer> => new Uint8Array(randomBytes(keyBytes));

/**
 * The bytes, or the text as UTF-8, encrypted for this place alone: the form, the nonce, as many bytes as were given, and the tag. The place begins with the scope and
 * names the instance or session. One key may seal some billion values.
 */
export function seal(key: Uint8Array, place: readonly unknown[], plain: Uint8Array | string): Buffer<ArrayBuffer> {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv("aes-256-gcm", key, nonce);
  cipher.setAAD(Buffer.from(JSON.stringify(place)));
  const body = typeof plain === "string" ? cipher.update(plain, "utf8") : cipher.update(plain);
  const rest = cipher.final();
  return Buffer.concat([Uint8Array.of(form), nonce, body, rest, cipher.getAuthTag()]);
}

/** What was sealed for this place under this key; `undefined` when it was not, or a bit of it was changed since. */
export function open(key: Uint8Array, place: readonly unknown[], sealed: Uint8Array): Buffer<ArrayBuffer> | undefined {
  if (sealed[0] !== form || sealed.byteLength < headBytes + tagBytes) return undefined;
  const end = sealed.byteLength - tagBytes;
  try {
    const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(1, headBytes), { authTagLength: tagBytes });
    decipher.setAAD(Buffer.from(JSON.stringify(place)));
    decipher.setAuthTag(sealed.subarray(end));
    return Buffer.concat([decipher.update(sealed.subarray(headBytes, end)), decipher.final()]);
  } catch {
    // The tag does not fit: another key, another place, or changed bytes.
    return undefined;
  }
}
