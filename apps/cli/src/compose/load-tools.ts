import { AgentError, type Tool } from "@loopwright/core";
import { loadModule } from "./load-module.ts";

/**
 * The tools that a module of the user's own exports, one by one or in arrays. The module is run.
 * @throws AgentError CONFIG_INVALID when it cannot be loaded or exports no tool.
 */
export async function loadTools(file: string, directory: string): Promise<readonly Tool[]> {
  const exported = await loadModule({ file, holds: "tools", flag: "--tools" }, directory);
  const tools = Object.values(exported).flat().filter(isTool);
  if (tools.length > 0) return tools;
  throw new AgentError("CONFIG_INVALID", { message: `\`${file}\` exports no tool.`, fix: "Export what `defineTool` gave." });
}

function isTool(value: unknown): value is Tool {
  return typeof value === "object" && value !== null && "name" in value && "description" in value && "parameters" in value;
}
