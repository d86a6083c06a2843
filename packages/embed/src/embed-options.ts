import type { Agent } from "@loopwright/core";
import type { HttpOptions } from "@loopwright/server";
import { auditModuleText } from "./audit-module-text.ts";
import { checkModule, type Modules } from "./modules.ts";
import { modulesRoute } from "./modules-route.ts";
import { notificationsDialect } from "./notifications-dialect.ts";
import { unionDialect } from "./union-codec.ts";
import { withModules } from "./with-modules.ts";

export interface Embedding {
  readonly agents: readonly Agent[];
  /** Default: none, so each `activeModule` is refused with MODULE_UNKNOWN. */
  readonly modules?: Modules;
}

/** Options of a server with all that the embedding product adds. */
export interface EmbedOptions extends Required<Pick<HttpOptions, "labels" | "dialects" | "auditBody" | "routes">> {
  /** A worker beside the server needs the same agents. */
  readonly agents: readonly Agent[];
}

/**
 * The agents with their modules, the labels `surface` and `activeModule`, the dialects `notifications` and `union`, the audit of module texts in
 * requests, and the route `/api/modules`. @throws AgentError CONFIG_INVALID when names of tools clash
 */
export function embedOptions({ agents, modules = {} }: Embedding): EmbedOptions {
  return {
    agents: agents.map((agent) => withModules(agent, modules)),
    labels: { surface: "any", activeModule: (id) => checkModule(id, modules) },
    dialects: [notificationsDialect, unionDialect],
    auditBody: auditModuleText,
    routes: [modulesRoute(modules)],
  };
}
