import type { Route } from "../../request/route.ts";

/** The route that describes all routes of its server. */
export const openApiRoute: Route = {
  method: "GET",
  path: "/openapi.json",
  id: "openapi",
  summary: "This description.",
  access: "principal",
  action: "server.inspect",
  responses: { 200: { description: "An OpenAPI 3.1 document." } },
  handle: ({ server }) =>
    new Response(server.description(), { headers: { "Content-Type": "application/json", "Cache-Control": "private, max-age=300" } }),
};
