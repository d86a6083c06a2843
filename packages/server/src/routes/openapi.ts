import { openApiOf } from "../http/openapi.ts";
import type { Route } from "../http/route.ts";

/** The route that describes all routes. */
export function openApiRoute(routes: () => readonly Route[]): Route {
  let document: string | undefined;
  return {
    method: "GET",
    path: "/openapi.json",
    id: "openapi",
    summary: "This description.",
    access: "principal",
    responses: { 200: { description: "An OpenAPI 3.1 document." } },
    handle({ scene }) {
      document ??= JSON.stringify(openApiOf(routes(), scene.options.basePath ?? ""));
      return new Response(document, { headers: { "Content-Type": "application/json", "Cache-Control": "private, max-age=300" } });
    },
  };
}
