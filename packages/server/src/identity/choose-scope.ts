import { AgentError } from "@loopwright/core";
import { isId } from "@loopwright/core/ports";
import type { Membership, Principal } from "../server-options.ts";

/** The header that names one of the caller's scopes. */
const scopeHeader = "X-Scope";

/**
 * The principal in the scope that the request names, with the roles and labels of its membership there. It is trusted only in the scope for which
 * authentication declared it trusted. A scope that does not exist is refused in the same way as a scope of others. @throws AgentError FORBIDDEN
 */
export function chooseScope(principal: Principal, request: Request): Principal {
  const wanted = request.headers.get(scopeHeader);
  const { memberships, scope } = principal;
  if (wanted === null || wanted === scope) return principal;
  if (memberships === "any" && isId(wanted)) return { ...principal, scope: wanted };
  const found = Array.isArray(memberships) ? (memberships as readonly Membership[]).find((one) => one.scope === wanted) : undefined;
  if (!found || !isId(found.scope))
    throw new AgentError("FORBIDDEN", {
      message: "The caller does not belong to the scope that `X-Scope` names.",
      fix: "Name one of `scopes` of `GET /api/access`, or leave the header out.",
      details: { header: scopeHeader },
    });
  const { trusted: _, roles, labels, ...rest } = principal;
  const first: Membership = { scope, ...(roles ? { roles } : {}), ...(labels ? { labels } : {}) };
  const others = (memberships as readonly Membership[]).filter((one) => one !== found);
  return {
    ...rest,
    scope: found.scope,
    memberships: [first, ...others],
    ...(found.roles ? { roles: found.roles } : {}),
    ...(found.labels ? { labels: found.labels } : {}),
  };
}

/** Every scope that a request of the caller may name, the current one first. */
export function scopesOf({ scope, memberships }: Principal): readonly string[] {
  const more = Array.isArray(memberships) ? (memberships as readonly Membership[]).map((one) => one.scope).filter(isId) : [];
  return [...new Set([scope, ...more])];
}
