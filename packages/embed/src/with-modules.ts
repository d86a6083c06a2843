import { type Agent, type PromptContext, promptLayers } from "@loopwright/core";
import type { Modules } from "./modules.ts";

/** The agent with one more layer of its prompt: the text of the module which the input names by its label `activeModule`. */
export function withModules(agent: Agent, modules: Modules): Agent {
  const text = ({ labels: { activeModule } }: PromptContext): string | undefined =>
    activeModule !== undefined && Object.hasOwn(modules, activeModule) ? modules[activeModule]?.prompt : undefined;
  return Object.freeze({ ...agent, prompt: [...promptLayers(agent.prompt), { text, source: "module" }] });
}
