/** Authenticators of a server of Loopwright. */

export { anyOf } from "./any-of.ts";
export { type AuthUrlOptions, authUrl } from "./auth-url.ts";
export { developmentTokens } from "./development-tokens.ts";
export type { FetchLike } from "./fetch-json.ts";
export { type InternalTokensOptions, internalTokens } from "./internal-tokens.ts";
export { isFromHere } from "./is-from-here.ts";
export { type ClaimNames, type ClaimPath, type JwtAlgorithm, type JwtOptions, jwtTokens, type TokenClaims } from "./jwt/jwt-tokens.ts";
export { oidcTokens } from "./jwt/oidc-tokens.ts";
export { readPrincipal } from "./read-principal.ts";
