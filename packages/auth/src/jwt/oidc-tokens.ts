import { AgentError } from "@loopwright/core";
import { silentLogger, systemClock } from "@loopwright/core/memory";
import type { Authenticate } from "@loopwright/server";
import { type FetchLike, fetchJson, isSafeUrl } from "../fetch-json.ts";
import { isFields } from "../read-principal.ts";
import { type JwtOptions, tokensOf } from "./jwt-tokens.ts";
import { createKeySet } from "./key-set.ts";

const timeoutMs = 3_000;
const bytesMax = 256 * 1024;

/**
 * Identifies callers by tokens of an OpenID Connect provider, whose keys are found by discovery (`<issuer>/.well-known/openid-configuration`). The first request that
 * has a token begins it. @throws AgentError CONFIG_INVALID
 */
export function oidcTokens(options: Omit<JwtOptions, "keys">): Authenticate {
  const { issuer, clock = systemClock, logger = silentLogger } = options;
  if (!isSafeUrl(issuer))
    throw new AgentError("CONFIG_INVALID", {
      message: "`issuer` is neither an `https:` address nor on this machine, or it holds a password.",
      fix: "Use the address of the provider, as it is in `iss` of its tokens.",
    });
  const fetch: FetchLike = options.fetch ?? ((...asked) => globalThis.fetch(...asked));
  let address: string | undefined;
  const url = async (): Promise<string> => (address ??= await keysOf(issuer, { fetch, clock, timeoutMs, bytesMax }));
  return tokensOf(options, createKeySet({ url, fetch, clock, logger }));
}

/** The address of the keys, as the provider names it. */
async function keysOf(issuer: string, how: Parameters<typeof fetchJson>[1]): Promise<string> {
  const { status, body } = await fetchJson(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`, how);
  const named = isFields(body) ? body : {};
  if (status !== 200 || named["issuer"] !== issuer) throw new Error(`status ${status}, or another issuer`);
  const address = named["jwks_uri"];
  if (typeof address !== "string" || !isSafeUrl(address)) throw new Error("no usable `jwks_uri`");
  return address;
}
