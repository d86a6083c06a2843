/*
 * Owns: authenticated encryption of one value under one key: AES-256-GCM with a random nonce, bound to what it is for.
 * Does not own: keys (key-ring), what is encrypted.
 */
import type { webcrypto } from "node:crypto";
import { AgentError } from "@loopwright/core";

/** The first byte, so that a reader can distinguish a later form. */
const form = 1;
const nonceBytes = 12;
const tagBytes = 16;

export const keyBytes = 32;

/** Random bytes of a new key. */
export function randomKey(): Uint8Array<ArrayBuffer> {
  return crypto.getRandomValues(new Uint8Array(keyBytes));
}

/** The bytes, encrypted for this place alone: `open` with another place fails. */
export async function seal(key: Uint8Array, place: readonly unknown[], plain: Uint8Array): Promise<Uint8Array> {
  const nonce = crypto.getRandomValues(new Uint8Array(nonceBytes));
  const sealed = await crypto.subtle.encrypt(how(nonce, place), await imported(key, "encrypt"), copied(plain));
  const whole = new Uint8Array(1 + nonceBytes + sealed.byteLength);
  whole[0] = form;
  whole.set(nonce, 1);
  whole.set(new Uint8Array(sealed), 1 + nonceBytes);
  return whole;
}

/** @throws AgentError SECRET_UNREADABLE when a bit of it was changed, and for another key or place */
export async function open(key: Uint8Array, place: readonly unknown[], sealed: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  if (sealed[0] !== form || sealed.length < 1 + nonceBytes + tagBytes) throw unreadable("it is not in a form that this version reads");
  const nonce = copied(sealed.subarray(1, 1 + nonceBytes));
  try {
    const opener = await imported(key, "decrypt");
    return new Uint8Array(await crypto.subtle.decrypt(how(nonce, place), opener, copied(sealed.subarray(1 + nonceBytes))));
  } catch (cause) {
    throw unreadable("it was changed, belongs to another scope or name, or was encrypted with another key", cause);
  }
}

/** A secret that cannot be decrypted. `why` continues the sentence. */
export function unreadable(why: string, cause?: unknown): AgentError {
  return new AgentError("SECRET_UNREADABLE", { message: `A stored secret cannot be decrypted: ${why}.`, cause });
}

const how = (iv: Uint8Array<ArrayBuffer>, place: readonly unknown[]): webcrypto.AesGcmParams => ({
  name: "AES-GCM",
  iv,
  additionalData: new TextEncoder().encode(JSON.stringify(place)),
  tagLength: tagBytes * 8,
});

const imported = (key: Uint8Array, usage: "encrypt" | "decrypt"): Promise<webcrypto.CryptoKey> =>
  crypto.subtle.importKey("raw", copied(key), "AES-GCM", false, [usage]);

const copied = (bytes: Uint8Array): Uint8Array<ArrayBuffer> => new Uint8Array(bytes);
