import { z } from "zod";
import type { Route } from "../../request/route.ts";
import { serverVersion } from "../../server-version.ts";

export const versionRoute: Route = {
  method: "GET",
  path: "/version",
  id: "version",
  summary: "The name and version of this server.",
  access: "principal",
  action: "server.inspect",
  responses: { 200: { description: "Name and version.", schema: z.object({ name: z.literal("loopwright"), version: z.string() }) } },
  handle: () => Response.json({ name: "loopwright", version: serverVersion }),
};
