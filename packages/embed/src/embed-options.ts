import type { Agent, FindAgent } from "@loopwright/core";
import type { ExtensionRoute, HttpOptions } from "@loopwright/server";
import { type AssistantMode, assistantParts } from "./assistant-mode.ts";
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
  /** Default: what runs in the browser is offered on every surface, and `surface` is any text. */
  readonly assistantMode?: AssistantMode;
  /** Routes of the assistant alone, such as `providerRoutes` and `settingsRoutes` of `@loopwright/user-settings`. Default: none. */
  readonly assistantRoutes?: readonly ExtensionRoute[];
}

/** Options of a server with all that the embedding product adds. */
export interface EmbedOptions extends Required<Pick<HttpOptions, "labels" | "dialects" | "auditBody" | "routes">> {
  /** A worker beside the server needs the same agents. Under `assistantMode: "none"` a function that finds none. */
  readonly agents: readonly Agent[] | FindAgent;
}

/**
 * The agents with their modules, the labels `surface` and `activeModule`, the dialects `notifications` and `union`, the audit of module texts in
 * requests, the route `/api/modules`, and what `assistantMode` decides. @throws AgentError CONFIG_INVALID when names of tools clash
 */
export function embedOptions({ agents, modules = {}, assistantMode, assistantRoutes = [] }: Embedding): EmbedOptions {
  const all = { agents: agents.map((agent) => withModules(agent, modules)), routes: assistantRoutes };
  const assistant = assistantMode === undefined ? { ...all, surface: "any" as const } : assistantParts(assistantMode, all);
  return {
    agents: assistant.agents,
    labels: { surface: assistant.surface, activeModule: (id) => checkModule(id, modules) },
    dialects: [notificationsDialect, unionDialect],
    auditBody: auditModuleText,
    routes: [modulesRoute(modules), ...assistant.routes],
  };
}
