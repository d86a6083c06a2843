import { openApiOf } from "../../request/openapi.ts";
import type { Route } from "../../request/route.ts";

/** The route that describes all routes. */
export function openApiRoute(routes: () => readonly Route[]): Route {
  // The table is one for all servers of a process, and their paths differ.
  const documents = new Map<string, string>();
  return {
    method: "GET",
    path: "/openapi.json",
    id: "openapi",
    summary: "This description.",
    access: "principal",
    responses: { 200: { description: "An OpenAPI 3.1 document." } },
    handle({ scene }) {
      const { basePath = "" } = scene.options;
      const document = documents.get(basePath) ?? JSON.stringify(openApiOf(routes(), basePath));
      documents.set(basePath, document);
      return new Response(document, { headers: { "Content-Type": "application/json", "Cache-Control": "private, max-age=300" } });
    },
  };
}
