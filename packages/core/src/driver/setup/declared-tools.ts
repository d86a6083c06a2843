import { type Agent, createAgent } from "../../agent/agent.ts";
import { AgentError } from "../../errors.ts";
import type { DeclaredTool } from "../../loop/fact.ts";
import { findJsonFlaw } from "../../message/json.ts";
import { defineTool } from "../../tools/define-tool.ts";

/** The data of client tools that the log keeps; their other members are left out. @throws AgentError CONFIG_INVALID */
export function declaredTools(tools: readonly DeclaredTool[] = []): readonly DeclaredTool[] {
  return tools.map(({ name, description, parameters, label, timeoutMs }) => {
    const optional = { ...(label === undefined ? {} : { label }), ...(timeoutMs === undefined ? {} : { timeoutMs }) };
    const tool: DeclaredTool = { name, description, parameters, ...optional };
    defineTool(tool);
    if (findJsonFlaw(tool) === undefined) return tool;
    throw new AgentError("CONFIG_INVALID", {
      message: `Tool \`${String(name).slice(0, 64)}\` is no plain JSON.`,
      fix: "Declare a tool with a JSON Schema; a Standard Schema cannot be kept in a log.",
    });
  });
}

/** The agent with the tools and the prompt of the session. @throws AgentError CONFIG_INVALID when a tool has the name of another. */
export function withDeclared(
  agent: Agent,
  declared: { readonly tools: readonly DeclaredTool[]; readonly prompt: string | undefined },
): Agent {
  const { tools, prompt } = declared;
  if (prompt !== undefined && typeof prompt !== "string")
    throw new AgentError("CONFIG_INVALID", {
      message: "The `prompt` of the session is no text.",
      fix: "Give a function to the agent instead.",
    });
  return createAgent({
    ...agent,
    tools: [...agent.tools, ...tools],
    ...(prompt === undefined ? {} : { prompt: [{ text: prompt, source: "session", cache: "session" }] }),
  });
}
