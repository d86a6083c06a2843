import type { Agent, PromptContext } from "@loopwright/core";
import type { HostOptions } from "./host-options.ts";

type Modules = NonNullable<HostOptions["modules"]>;

/** The agent, told after its own prompt about the part of the product that the user is in. */
export function withModules(agent: Agent, modules: Modules): Agent {
  const { prompt } = agent;
  const build = async (context: PromptContext): Promise<string> => {
    const own = typeof prompt === "function" ? await prompt(context) : prompt;
    const { activeModule } = context;
    const module = activeModule !== undefined && Object.hasOwn(modules, activeModule) ? modules[activeModule]?.prompt : undefined;
    return [own, module].filter((text) => text !== undefined && text !== "").join("\n\n");
  };
  return Object.freeze({ ...agent, prompt: build });
}
