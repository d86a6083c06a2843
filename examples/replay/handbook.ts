import { type Agent, type AgentPrompt, createAgent, defineTool } from "@loopwright/core";
import type { ModelProvider } from "@loopwright/core/ports";

const search = defineTool({
  name: "search",
  description: "Searches the handbook.",
  parameters: { type: "object", properties: { words: { type: "string" } }, required: ["words"] },
  replay: "pure",
  execute: () => "Holidays: 30 days.",
});

/** The agent that is tested. */
export const handbook = (provider: ModelProvider, prompt: AgentPrompt = "Answer from the handbook."): Agent =>
  createAgent({ name: "handbook", provider, prompt, tools: [search] });
