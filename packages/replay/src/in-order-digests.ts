import { createHash } from "node:crypto";

let users = 0;

const names: { readonly [algorithm: string]: string } = { "SHA-1": "sha1", "SHA-256": "sha256", "SHA-384": "sha384", "SHA-512": "sha512" };

function digest(algorithm: string | { readonly name: string }, data: ArrayBufferView | ArrayBuffer): Promise<ArrayBuffer> {
  const name = typeof algorithm === "string" ? algorithm : algorithm.name;
  const bytes = ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(data);
  const sum = createHash(names[name.toUpperCase()] ?? name)
    .update(bytes)
    .digest();
  return Promise.resolve(new Uint8Array(sum).buffer);
}

/**
 * Web Crypto computes digests on other threads, in an order that no seed decides. Until the returned function is called they are computed at
 * once, with the same results.
 */
export function digestInOrder(): () => void {
  const { subtle } = globalThis.crypto;
  if (users++ === 0) Object.defineProperty(subtle, "digest", { value: digest, configurable: true, writable: true });
  let isOver = false;
  return () => {
    if (isOver) return;
    isOver = true;
    if (--users === 0) Reflect.deleteProperty(subtle, "digest");
  };
}
