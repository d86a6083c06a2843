import { AgentError } from "@loopwright/core";

/** The error for arguments that fit the schema and still make no sense: what is wrong, and what would be right. */
export function badArguments(message: string, fix?: string): AgentError {
  return new AgentError("TOOL_ARGUMENTS", { message, fix: fix ?? "Correct the arguments." });
}
