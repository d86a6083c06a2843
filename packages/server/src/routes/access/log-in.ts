import { AgentError } from "@loopwright/core";
import { beginCookieSession, hasCookies } from "../../identity/cookie-session.ts";
import type { Route } from "../../request/route.ts";
import { callerAccess } from "../../schemas/index.ts";
import type { ServerContext } from "../../server-context.ts";
import { callerAccessOf } from "./caller-access.ts";

export const logInRoute: Route = {
  method: "POST",
  path: "/api/login",
  id: "logIn",
  summary: "Exchanges the credentials of the request for a cookie; with a cookie, for another one that ends no later.",
  access: "principal",
  action: "access.login",
  responses: {
    200: { description: "The caller, and the cookie in `Set-Cookie`.", schema: callerAccess },
    404: { description: "The server does not use cookies." },
  },
  async handle({ request, principal, server }) {
    checkCookies(server);
    const { cookie, expiresAt } = await beginCookieSession(request, principal, server);
    return Response.json(callerAccessOf({ ...principal, expiresAt }, server), { headers: { "Set-Cookie": cookie } });
  },
};

/** Passes if the server uses cookies. @throws AgentError ROUTE_NOT_FOUND */
export function checkCookies({ options }: Pick<ServerContext, "options">): void {
  if (hasCookies(options)) return;
  throw new AgentError("ROUTE_NOT_FOUND", {
    message: "This server does not use cookies.",
    fix: "Send `Authorization: Bearer <token>` with each request, or give `cookies` to `createServer`.",
  });
}
