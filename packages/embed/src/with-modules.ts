import { type Agent, promptLayers } from "@loopwright/core";
import type { Modules } from "./modules.ts";
import { activeModuleContext } from "./prompts.ts";

/** The agent with one more layer of its prompt: the text of the module which the input names by its label `activeModule`. */
export function withModules(agent: Agent, modules: Modules): Agent {
  return Object.freeze({ ...agent, prompt: [...promptLayers(agent.prompt), activeModuleContext(modules)] });
}
