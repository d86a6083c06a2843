import { type Agent, type AgentSettings, createAgent, type JsonObject, type Message, type ModelChunk } from "@loopwright/core";
import type { ModelProvider } from "@loopwright/core/ports";

/** A call as the input of the agent: text, so that guardrails read it as any other input. */
export const inputOfCall = (tool: string, args: JsonObject): string => JSON.stringify({ tool, arguments: args });

/**
 * An agent without a model, which runs single calls of its tools for hosts of MCP: give it to the runtime, and to `mcpRoutes` as `tools`. A call is a run, so
 * approvals, hooks, guardrails, limits and the log hold for it as for the calls of a model. Default name `tools`. @throws AgentError CONFIG_INVALID
 */
export function toolAgent({ name = "tools", ...settings }: Partial<AgentSettings> & Required<Pick<AgentSettings, "tools">>): Agent {
  return createAgent({ ...settings, name, provider: direct });
}

/** Asks for the call that the input is, and ends when it has a result. */
const direct: ModelProvider = {
  name: "direct",
  defaultModel: "direct",
  capabilities: () => ({ streaming: true, tools: true, vision: false, promptCaching: false }),
  async *stream({ messages }) {
    yield chunksAfter(messages.findLast(({ role }) => role === "user" || role === "tool_result"));
  },
};

function chunksAfter(last: Message | undefined): readonly ModelChunk[] {
  const call = last?.role === "user" ? callIn(last) : undefined;
  if (call)
    return [
      { type: "call-start", index: 0, name: call.tool },
      { type: "call-args", index: 0, delta: JSON.stringify(call.args) },
      { type: "call-end", index: 0 },
      { type: "end", stopReason: "tool_calls" },
    ];
  const text = last?.role === "tool_result" ? "The call has ended." : "This agent runs calls of tools for hosts of MCP, and nothing else.";
  return [
    { type: "text", index: 0, delta: text },
    { type: "end", stopReason: "stop" },
  ];
}

function callIn({ content }: Extract<Message, { readonly role: "user" }>): { readonly tool: string; readonly args: object } | undefined {
  const text = typeof content === "string" ? content : content.map((part) => (part.type === "text" ? part.text : "")).join("");
  try {
    const { tool, arguments: args } = JSON.parse(text) as { readonly tool?: unknown; readonly arguments?: unknown };
    return typeof tool === "string" && typeof args === "object" && args !== null ? { tool, args } : undefined;
  } catch {
    return undefined;
  }
}
