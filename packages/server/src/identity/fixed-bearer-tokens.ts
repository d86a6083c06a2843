import { AgentError } from "@loopwright/core";
import type { Authenticate, Principal } from "../server-options.ts";
import { bearerToken } from "./read-bearer-token.ts";
import { textDigest } from "./text-digest.ts";

/** The least length of a token, because shorter ones can be guessed. */
const lengthMin = 16;

/**
 * Identifies callers by `Authorization: Bearer <token>`. Tokens are kept and compared as SHA-256, in constant time.
 * @throws AgentError CONFIG_INVALID when a token has fewer than 16 characters
 */
export function bearerTokens(tokens: { readonly [token: string]: Principal }): Authenticate {
  const entries = Object.entries(tokens);
  if (entries.some(([token]) => token.length < lengthMin))
    throw new AgentError("CONFIG_INVALID", {
      message: `A token of \`bearerTokens\` has fewer than ${lengthMin} characters.`,
      fix: "Use long random tokens, for example from `openssl rand -hex 32`.",
    });
  const known = Promise.all(entries.map(async ([token, principal]) => ({ digest: await textDigest(token), principal })));
  return async (request) => {
    const token = bearerToken(request);
    if (token === undefined) return undefined;
    const digest = await textDigest(token);
    let found: Principal | undefined;
    for (const entry of await known) if (isSame(entry.digest, digest)) found = entry.principal;
    return found;
  };
}

/** Compares digests, which have one length, in constant time. */
function isSame(a: string, b: string): boolean {
  let difference = a.length ^ b.length;
  for (let place = 0; place < a.length; place++) difference |= a.charCodeAt(place) ^ b.charCodeAt(place);
  return difference === 0;
}
