import { AgentError } from "@loopwright/core";
import { isId } from "@loopwright/core/ports";
import { type Authenticate, bearerTokens, type Caller, type Principal } from "@loopwright/server";
import { isFromHere } from "./is-from-here.ts";

export interface InternalTokensOptions {
  /** Whether the caller may use the tokens. Default: callers of this machine whose request no proxy has passed on. */
  readonly from?: (caller: Caller, request: Request) => boolean;
}

/**
 * Tokens of services of the deployment. Their principals are trusted, have the role `service`, and may name any scope with `X-Scope`. Tokens are compared in
 * constant time, and count only for callers of this machine: from elsewhere they are refused at once, so that `anyOf` shows them to no other authenticator. A
 * service that acts for a user names it with `X-Act-For`, percent-encoded, and the scope with `X-Scope`: its principal is then that user, without roles and not trusted. @throws
 * AgentError CONFIG_INVALID for a token of fewer than 16 characters
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
  return async (request, caller) => {
    const service = await known(request, caller);
    if (service && !from(caller, request)) throw fromElsewhere();
    const user = request.headers.get(actForHeader);
    return service && user !== null ? actingFor(user, request.headers.get("X-Scope") ?? service.scope) : service;
  };
}

/** The header that names the user for which a service acts. */
const actForHeader = "X-Act-For";

/** The user alone: what the service may do beyond it does not count. */
function actingFor(encoded: string, scope: string): Principal {
  const user = /^(?:[\w.~!*'()@+-]|%[0-9A-Fa-f]{2}){1,256}$/.test(encoded) ? decoded(encoded) : undefined;
  if (user === undefined || !isId(scope))
    throw new AgentError("UNAUTHENTICATED", {
      message: "The service acts for a user that cannot be read.",
      fix: "Send the user percent-encoded as `X-Act-For`, and its scope as `X-Scope`.",
    });
  return { user, scope };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

const fromElsewhere = (): AgentError =>
  new AgentError("UNAUTHENTICATED", {
    message: "The credentials do not count for this caller.",
    fix: "Call the server from the machine that it runs on, without a proxy.",
  });
