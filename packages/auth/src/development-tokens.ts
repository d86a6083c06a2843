import { isId } from "@loopwright/core/ports";
import { type Authenticate, bearerToken } from "@loopwright/server";
import { isFromHere } from "./is-from-here.ts";

/** `dev:<user>@<scope>[,<scope>...][:<role>[,<role>...]]` */
const pattern = /^dev:([\w.-]{1,64})@([a-z0-9_,-]{1,1000})(?::([\w,-]{1,200}))?$/;

/**
 * Believes what callers say of themselves, for trying a server with several users: `Bearer dev:anne@garden,kitchen:admin` is Anne of two teams, with a role. Only for
 * callers of this machine, not through a proxy, on a server that other machines cannot reach; to all others every token is wrong.
 */
export function developmentTokens(): Authenticate {
  return (request, caller) => {
    const [, user, teams = "", roles] = pattern.exec(bearerToken(request) ?? "") ?? [];
    const [scope, ...others] = teams.split(",");
    if (!isFromHere(caller, request) || caller.isExposed || user === undefined || scope === undefined || ![scope, ...others].every(isId))
      return undefined;
    const given = roles === undefined ? {} : { roles: roles.split(",") };
    return { user, scope, ...given, memberships: others.map((other) => ({ scope: other, ...given })) };
  };
}
