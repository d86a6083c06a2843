import { AgentError } from "@loopwright/core";
import type { Authenticate, Principal } from "../server-options.ts";

/** The least length of a token, because shorter ones can be guessed. */
const lengthMin = 16;
const encoder = new TextEncoder();

const digestOf = async (token: string): Promise<Uint8Array> => new Uint8Array(await crypto.subtle.digest("SHA-256", encoder.encode(token)));

/**
 * Identifies callers by `Authorization: Bearer <token>`. Tokens are kept and compared as SHA-256, in constant time.
 * @throws AgentError CONFIG_INVALID when a token has fewer than 16 characters
 */
export function bearerTokens(tokens: { readonly [token: string]: Principal }): Authenticate {
  const entries = Object.entries(tokens);
  if (entries.some(([token]) => token.length < lengthMin))
    throw new AgentError("CONFIG_INVALID", {
      message: `A token of \`bearerTokens\` has fewer than ${lengthMin} characters.`,
      fix: "Use long random ones, for example of `openssl rand -hex 32`.",
    });
  const known = Promise.all(entries.map(async ([token, principal]) => ({ digest: await digestOf(token), principal })));
  return async (request) => {
    const token = /^Bearer +(\S+)$/i.exec(request.headers.get("Authorization") ?? "")?.[1];
    if (token === undefined) return undefined;
    const digest = await digestOf(token);
    let found: Principal | undefined;
    for (const entry of await known) if (isSame(entry.digest, digest)) found = entry.principal;
    return found;
  };
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  let difference = a.length ^ b.length;
  for (const [place, byte] of a.entries()) difference |= byte ^ (b[place] ?? 0);
  return difference === 0;
}
