import { textDigest } from "../../identity/text-digest.ts";
import type { Principal } from "../../server-options.ts";

/** The id of the session that a request with this key creates. It derives from the key, so that a repeated POST finds the session of the first. */
export async function keyedSessionId({ scope, user }: Principal, idempotencyKey: string): Promise<string> {
  return `k${(await textDigest(JSON.stringify([scope, user, idempotencyKey]))).slice(0, 32)}`;
}
