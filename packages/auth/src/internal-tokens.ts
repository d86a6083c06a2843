import { type Authenticate, bearerTokens, type Caller, type Principal } from "@loopwright/server";

export interface InternalTokensOptions {
  /** Whether the caller may use the tokens. Default: callers of this machine whose request no proxy has passed on. */
  readonly from?: (caller: Caller, request: Request) => boolean;
}

/** Headers that proxies add: the request came from elsewhere. */
const forwarded = ["Forwarded", "X-Forwarded-For", "X-Real-IP", "Via"];

const isFromHere = ({ isLocal }: Caller, { headers }: Request): boolean => isLocal && !forwarded.some((name) => headers.has(name));

/**
 * Tokens of services of the deployment. Their principals are trusted, have the role `service`, and may name any scope with `X-Scope`. Tokens are compared in
 * constant time, and count only for callers of this machine. @throws AgentError CONFIG_INVALID for a token of fewer than 16 characters
 */
export function internalTokens(
  services: { readonly [token: string]: Pick<Principal, "user" | "scope" | "labels"> },
  { from = isFromHere }: InternalTokensOptions = {},
): Authenticate {
  const asService = ({ user, scope, labels }: Pick<Principal, "user" | "scope" | "labels">): Principal => ({
    ...{ user, scope, roles: ["service"], trusted: true, memberships: "any" },
    ...(labels ? { labels } : {}),
  });
  const known = bearerTokens(Object.fromEntries(Object.entries(services).map(([token, service]) => [token, asService(service)])));
  return (request, caller) => (from(caller, request) ? known(request, caller) : undefined);
}
