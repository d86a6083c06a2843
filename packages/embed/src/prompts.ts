import { type Access, type AgentPrompt, type PromptLayer, promptLayers } from "@loopwright/core";
import type { Modules } from "./modules.ts";

/** What `fromTeam` reads: the text of the caller's team, `undefined` or blank for none. */
export type TeamPrompts = (access: Access) => string | undefined | Promise<string | undefined>;

/** A layer that is the same in every request. `source` names it in logs and budgets; default `platform`. */
export function fromStatic(text: string, source = "platform"): PromptLayer {
  return { text, source };
}

/** The layer of the caller's team, read for each model call, so that a change counts from the next turn. A failing `read` fails the model call. */
export function fromTeam(read: TeamPrompts): PromptLayer {
  return { text: ({ access }) => read(access), source: "team" };
}

/** The text of the module that the input names by its label `activeModule`; nothing for another input. */
export function activeModuleContext(modules: Modules): PromptLayer {
  return {
    text: ({ labels: { activeModule } }) =>
      activeModule !== undefined && Object.hasOwn(modules, activeModule) ? modules[activeModule]?.prompt : undefined,
    source: "module",
  };
}

/**
 * One prompt of several, in the order of the list. Core puts stable layers first, so a stable layer behind one of a session becomes one of the session:
 * the vendor's cache could not hold it there anyway. All functions are called at the same time, and blank texts are left out.
 */
export function compose(...prompts: readonly (AgentPrompt | PromptLayer | undefined)[]): readonly PromptLayer[] {
  let isStable = true;
  return prompts.flatMap(layersOf).map((layer) => {
    isStable &&= (layer.cache ?? (typeof layer.text === "string" ? "stable" : "session")) === "stable";
    return { ...layer, cache: isStable ? "stable" : "session" };
  });
}

const layersOf = (prompt: AgentPrompt | PromptLayer | undefined): readonly PromptLayer[] =>
  typeof prompt === "object" && "text" in prompt ? [prompt] : promptLayers(prompt);
