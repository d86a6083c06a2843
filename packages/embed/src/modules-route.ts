import type { ExtensionRoute } from "@loopwright/server";
import type { Modules } from "./modules.ts";

/** `GET /api/modules`: the modules with their titles and hints for the page, without their prompts. */
export function modulesRoute(modules: Modules): ExtensionRoute {
  const listed = Object.entries(modules).map(([id, { title = id, hints }]) => ({ id, title, ...(hints === undefined ? {} : { hints }) }));
  return {
    ...{ method: "GET", path: "/api/modules", id: "modules", summary: "The modules of the product, for its page." },
    handle: () => Response.json({ modules: listed }),
  };
}
