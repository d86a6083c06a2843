/**
 * Letters and digits that stand for these texts: always the same for the same ones. 128 bits of SHA-256. With it a route of an application makes the id of a session
 * from the ids of its own protocol, on whichever node.
 */
export async function digestId(...texts: readonly string[]): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(JSON.stringify(texts))));
  return Array.from(bytes.subarray(0, 16), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
