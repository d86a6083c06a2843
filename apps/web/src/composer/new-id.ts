const alphabet = "abcdefghijklmnopqrstuvwxyz234567";
const length = 26;

/** A fresh id of 130 random bits, fit for sessions, messages and idempotency keys. Works on pages without TLS too, where `randomUUID` does not. */
export function newId(): string {
  let id = "";
  for (const byte of crypto.getRandomValues(new Uint8Array(length))) id += alphabet[byte & 31];
  return id;
}
