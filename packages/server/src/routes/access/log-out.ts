import { endCookieSession } from "../../identity/cookie-session.ts";
import type { Route } from "../../request/route.ts";
import { checkCookies } from "./log-in.ts";

export const logOutRoute: Route = {
  method: "POST",
  path: "/api/logout",
  id: "logOut",
  summary: "Ends the session of the cookie, on every node at once.",
  access: "principal",
  action: "access.login",
  responses: {
    204: { description: "It has ended, and `Set-Cookie` removes the cookie." },
    404: { description: "The server does not use cookies." },
  },
  async handle({ request, server }) {
    checkCookies(server);
    return new Response(null, { status: 204, headers: { "Set-Cookie": await endCookieSession(request, server) } });
  },
};
