import type { Principal } from "../../server-options.ts";

/** The id of the new session that an input with this key creates. It derives from the key, so that a repeated POST finds the session of the first one. */
export async function keyedSessionId({ scope, user }: Principal, idempotencyKey: string): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify([scope, user, idempotencyKey]));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return `k${Array.from(digest.subarray(0, 16), (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
