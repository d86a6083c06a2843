import { AgentError, defineTool, isAgentError, type Tool } from "@loopwright/core";
import type { Environment } from "../config/environment.ts";
import { loadModule } from "./load-module.ts";

/** What a function `tools` of a module is called with, beside `defineTool`. */
export interface ToolParts {
  /** For child processes: the variables of this process with the secrets of files. */
  readonly environment: Environment;
}

/**
 * The tools that a module of the user's own exports, one by one, in arrays, or by a function `tools`. The module is run.
 * @throws AgentError CONFIG_INVALID when it cannot be loaded or exports no tool.
 */
export async function loadTools(file: string, parts: ToolParts, directory: string): Promise<readonly Tool[]> {
  const exported = await loadModule({ file, holds: "tools", flag: "--tools" }, directory);
  const made = "tools" in exported && typeof exported.tools === "function" ? [await call(exported.tools, { file, parts })] : [];
  const tools = [...Object.values(exported), ...made].flat().filter(isTool);
  if (tools.length > 0) return tools;
  throw new AgentError("CONFIG_INVALID", {
    message: `\`${file}\` exports no tool.`,
    fix: "Export what `defineTool` returned, or a function `tools` that returns it.",
  });
}

interface Called {
  readonly file: string;
  readonly parts: ToolParts;
}

async function call(make: object, { file, parts }: Called): Promise<unknown> {
  try {
    return await (make as (parts: ToolParts & { readonly defineTool: typeof defineTool }) => unknown)({ ...parts, defineTool });
  } catch (cause) {
    if (isAgentError(cause)) throw cause;
    throw new AgentError("CONFIG_INVALID", {
      message: `The function \`tools\` of \`${file}\` failed: ${cause instanceof Error ? cause.name : "unknown error"}.`,
      fix: "Have it return what `defineTool` returned.",
      cause,
    });
  }
}

function isTool(value: unknown): value is Tool {
  return typeof value === "object" && value !== null && "name" in value && "description" in value && "parameters" in value;
}
