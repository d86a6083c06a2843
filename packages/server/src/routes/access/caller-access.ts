import { scopesOf } from "../../identity/choose-scope.ts";
import { hasCookies } from "../../identity/cookie-session.ts";
import type { CallerAccess } from "../../schemas/index.ts";
import type { ServerContext } from "../../server-context.ts";
import type { Principal } from "../../server-options.ts";

/** The access of the caller, as the caller may see it. */
export function callerAccessOf(principal: Principal, { options }: Pick<ServerContext, "options">): CallerAccess {
  const { user, scope, roles, expiresAt } = principal;
  return {
    user,
    scope,
    ...(roles ? { roles } : {}),
    scopes: scopesOf(principal),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    cookies: hasCookies(options),
    ...(options.routes && options.routes.length > 0 ? { extensions: options.routes.map(({ id }) => id) } : {}),
  };
}
