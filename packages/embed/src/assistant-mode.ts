import type { Agent, FindAgent, Hooks } from "@loopwright/core";
import type { ExtensionRoute, LabelRule } from "@loopwright/server";

/**
 * Which of the assistant's surfaces a deployment has. `none`: no assistant. `side-panel`: beside the product, with tools of the server alone. `full-page`: also on a
 * page of its own, where tools may run in the browser while the user watches.
 */
export type AssistantMode = "none" | "side-panel" | "full-page";

/** What a mode decides. */
export interface AssistantParts {
  readonly agents: readonly Agent[] | FindAgent;
  /** Which values of the label `surface` inputs may have. */
  readonly surface: LabelRule;
  readonly routes: readonly ExtensionRoute[];
}

/** What a deployment with an assistant has. */
interface AssistantOffer {
  readonly agents: readonly Agent[];
  readonly routes: readonly ExtensionRoute[];
}

/** Values of the label `surface`, by mode. */
const surfacesOf: { readonly [Mode in AssistantMode]: readonly string[] } = {
  none: [],
  "side-panel": ["side-panel"],
  "full-page": ["side-panel", "full-page"],
};

/** Agents, surfaces and routes as the mode has them: one switch for all of it, so that no part of an assistant is left over where there is none. */
export function assistantParts(mode: AssistantMode, { agents, routes }: AssistantOffer): AssistantParts {
  const surface = surfacesOf[mode];
  if (mode === "none") return { agents: () => undefined, surface, routes: [] };
  return { agents: agents.map((agent) => Object.freeze({ ...agent, hooks: [...agent.hooks, clientTools] })), surface, routes };
}

/** Tools that run in the browser are shown to the model on the full page alone. Last, so that it also sees what other hooks have added. */
const clientTools: Hooks = {
  name: "assistant-mode",
  prepare: ({ labels, tools }) =>
    labels["surface"] === "full-page"
      ? undefined
      : { tools: tools.filter(({ execute, visibility }) => execute && visibility !== "client") },
};
