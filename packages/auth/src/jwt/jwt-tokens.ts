import { AgentError, isAgentError } from "@loopwright/core";
import { silentLogger, systemClock } from "@loopwright/core/memory";
import type { Clock, Logger } from "@loopwright/core/ports";
import { type Authenticate, bearerToken, type Principal } from "@loopwright/server";
import { createLocalJWKSet, type JSONWebKeySet, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from "jose";
import { type FetchLike, isSafeUrl } from "../fetch-json.ts";
import { readPrincipal, textsOf } from "../read-principal.ts";
import { hasDuplicateKeys } from "./duplicate-keys.ts";
import { createKeySet } from "./key-set.ts";

/** The claims of a token that has passed all checks. */
export interface TokenClaims {
  readonly [name: string]: unknown;
}

/** Where the parts of a principal are among the claims: a name, or the names on the way to it. */
export interface ClaimNames {
  /** Default `sub`. */
  readonly user?: ClaimPath;
  /** Default `scope_id`. */
  readonly scope?: ClaimPath;
  /** Further scopes of the user: a list, or words apart by spaces. Default `scope_ids`. Not `scope` or `scp`, which hold permissions of OAuth and no tenants. */
  readonly scopes?: ClaimPath;
  /** A list, or words apart by spaces. Default `roles`. */
  readonly roles?: ClaimPath;
  /** By label. Default: none. */
  readonly labels?: { readonly [label: string]: ClaimPath };
}

export type ClaimPath = string | readonly string[];

/** A signature algorithm with a public key. Shared secrets and `none` are not among them. */
export type JwtAlgorithm = "RS256" | "RS384" | "RS512" | "PS256" | "PS384" | "PS512" | "ES256" | "ES384" | "ES512" | "EdDSA" | "Ed25519";

export interface JwtOptions {
  /** `iss` of the tokens. */
  readonly issuer: string;
  /** One of them is in `aud` of a token. */
  readonly audience: string | readonly string[];
  /** The public keys, or their address: `https:`, or `http:` on this machine. */
  readonly keys: JSONWebKeySet | string;
  /** Default `["RS256"]`. A token cannot choose another. */
  readonly algorithms?: readonly JwtAlgorithm[];
  /** How far the clocks may be apart, in seconds. Default 30, at most 300. */
  readonly clockSkewSeconds?: number;
  readonly claims?: ClaimNames;
  /** The scope of callers whose token names none. Default: none, so that they may do nothing. */
  readonly scope?: string;
  /** The principal of the claims, in place of `claims`; `undefined` refuses. */
  readonly principal?: (claims: TokenClaims) => Principal | undefined | Promise<Principal | undefined>;
  readonly fetch?: FetchLike;
  readonly clock?: Clock;
  readonly logger?: Logger;
}

const allowed: ReadonlySet<string> = new Set<JwtAlgorithm>([
  ...(["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"] as const),
  ...(["ES256", "ES384", "ES512", "EdDSA", "Ed25519"] as const),
]);
const compact = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;
const skewMaxSeconds = 300;
/** Claims of permissions (RFC 8693, RFC 9068, Microsoft Entra). */
const permissionClaims: ReadonlySet<string> = new Set(["scope", "scp"]);

/** Identifies callers by a JWT that an issuer has signed: issuer, audience, expiry and a fixed list of algorithms are checked. @throws AgentError CONFIG_INVALID */
export function jwtTokens(options: JwtOptions): Authenticate {
  const { keys, clock = systemClock, logger = silentLogger } = options;
  if (typeof keys === "string" && !isSafeUrl(keys))
    throw invalid("The address of the keys is neither `https:` nor on this machine, or it holds a password.", "Use `https:`.");
  const fetch: FetchLike = options.fetch ?? ((...asked) => globalThis.fetch(...asked));
  return tokensOf(options, typeof keys === "string" ? createKeySet({ url: () => keys, fetch, clock, logger }) : createLocalJWKSet(keys));
}

/** The same with any source of keys. @throws AgentError CONFIG_INVALID */
export function tokensOf(options: Omit<JwtOptions, "keys">, key: JWTVerifyGetKey): Authenticate {
  const { issuer, audience, algorithms = ["RS256"], clockSkewSeconds = 30, clock = systemClock } = options;
  if (algorithms.length === 0 || algorithms.some((name) => !allowed.has(name)))
    throw invalid(
      "`algorithms` names one that is not a signature with a public key.",
      "Use RS256, PS256, ES256 or EdDSA, as the issuer signs.",
    );
  if (issuer === "" || audience.length === 0) throw invalid("`issuer` and `audience` are needed.", "Give both, as they are in the tokens.");
  if (!(clockSkewSeconds >= 0 && clockSkewSeconds <= skewMaxSeconds))
    throw invalid(`\`clockSkewSeconds\` is from 0 to ${skewMaxSeconds}.`, "Set the clocks.");
  const { scope: own, scopes } = options.claims ?? {};
  if ([own, scopes].some((path) => path !== undefined && permissionClaims.has([path].flat().join("."))))
    throw invalid(
      "`claims` takes scopes from `scope` or `scp`, where tokens of OAuth have permissions such as `openid`: users of all tenants would share a scope of that name.",
      "Name the claim of the tenant, for example `org_id` or `tid`.",
    );
  return async (request) => {
    const token = bearerToken(request);
    if (token === undefined || !compact.test(token)) return undefined;
    const claims = await claimsOf(token, key, {
      ...{ issuer, audience: [...[audience].flat()], algorithms: [...algorithms], requiredClaims: ["exp"] },
      ...{ clockTolerance: clockSkewSeconds, currentDate: new Date(clock.now()) },
    });
    if (!claims) return undefined;
    const principal = options.principal ? await options.principal(claims) : principalOf(claims, options);
    // The end of the token is the end of the caller's credentials.
    const expiresAt = Math.min(((claims.exp ?? 0) + clockSkewSeconds) * 1_000, principal?.expiresAt ?? Number.POSITIVE_INFINITY);
    return principal && { ...principal, expiresAt };
  };
}

/** `undefined`: the token does not count. @throws AgentError NOT_READY */
async function claimsOf(token: string, key: JWTVerifyGetKey, how: Parameters<typeof jwtVerify>[2]): Promise<JWTPayload | undefined> {
  try {
    const { payload } = await jwtVerify(token, key, how);
    const [, part = ""] = token.split(".");
    const text = new TextDecoder().decode(
      Uint8Array.from(atob(part.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0)),
    );
    return hasDuplicateKeys(text) ? undefined : payload;
  } catch (error) {
    if (isAgentError(error)) throw error;
    // Whatever is wrong with a token, its sender learns only that it does not count.
    return undefined;
  }
}

function principalOf(claims: TokenClaims, { claims: names = {}, scope }: Pick<JwtOptions, "claims" | "scope">): Principal | undefined {
  const { user = "sub", scope: own = "scope_id", scopes = "scope_ids", roles = "roles", labels = {} } = names;
  return readPrincipal(
    {
      user: at(claims, user),
      scope: at(claims, own),
      memberships: textsOf(at(claims, scopes)),
      roles: at(claims, roles),
      labels: Object.fromEntries(Object.entries(labels).map(([label, path]) => [label, at(claims, path)])),
    },
    { scope },
  );
}

/** The value at a path of own names. */
function at(claims: TokenClaims, path: ClaimPath): unknown {
  let value: unknown = claims;
  for (const name of typeof path === "string" ? [path] : path)
    value = typeof value === "object" && value !== null && Object.hasOwn(value, name) ? (value as TokenClaims)[name] : undefined;
  return value;
}

const invalid = (message: string, fix: string): AgentError => new AgentError("CONFIG_INVALID", { message, fix });
