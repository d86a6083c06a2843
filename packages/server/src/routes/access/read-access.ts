import type { Route } from "../../request/route.ts";
import { callerAccess } from "../../schemas/index.ts";
import { callerAccessOf } from "./caller-access.ts";

export const readAccessRoute: Route = {
  method: "GET",
  path: "/api/access",
  id: "readAccess",
  summary: "The caller as the server knows it: user, scope, roles, and the scopes that `X-Scope` may name.",
  access: "principal",
  action: "access.read",
  responses: { 200: { description: "The caller.", schema: callerAccess } },
  handle: ({ principal, server }) => Response.json(callerAccessOf(principal, server)),
};
