import type { ScopeHead } from "./secret-storage.ts";

/** A head as JSON, for storages of texts. */
export function encodedHead({ revision, key, seal }: ScopeHead): string {
  return JSON.stringify({ revision, masterId: key.masterId, wrapped: textOf(key.bytes), seal: textOf(seal) });
}

/** The head of such a JSON. */
export function decodedHead(text: string): ScopeHead {
  const { revision, masterId, wrapped, seal } = JSON.parse(text) as Readonly<Record<"masterId" | "wrapped" | "seal", string>> & {
    readonly revision: number;
  };
  return { revision, key: { masterId, bytes: bytesOf(wrapped) }, seal: bytesOf(seal) };
}

/** Bytes as base64. */
export const textOf = (bytes: Uint8Array): string => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
/** The bytes of a base64. */
export const bytesOf = (text: string): Uint8Array => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
