import { type Agent, type Hooks, promptLayers, type Tool } from "@loopwright/core";
import { type Modules, toolsOf } from "./modules.ts";
import { activeModuleContext } from "./prompts.ts";

/**
 * The agent with the modules of the product: the text and the tools of the one that the input names by its label `activeModule`. The model is shown no
 * tool of another module, and a call of one is answered with TOOL_UNKNOWN. @throws AgentError CONFIG_INVALID when names of tools clash
 */
export function withModules(agent: Agent, modules: Modules): Agent {
  const added = toolsOf(modules);
  const prompt = [...promptLayers(agent.prompt), activeModuleContext(modules)];
  if (added.length === 0) return Object.freeze({ ...agent, prompt });
  return Object.freeze({ ...agent, prompt, tools: [...agent.tools, ...added], hooks: [moduleTools(added, modules), ...agent.hooks] });
}

function moduleTools(added: readonly Tool[], modules: Modules): Hooks {
  const names = new Set(added.map(({ name }) => name));
  return {
    name: "modules",
    prepare({ labels: { activeModule }, tools }) {
      const active = activeModule !== undefined && Object.hasOwn(modules, activeModule) ? (modules[activeModule]?.tools ?? []) : [];
      const shown = new Set(active.map(({ name }) => name));
      return { tools: tools.filter(({ name }) => !names.has(name) || shown.has(name)) };
    },
  };
}
