import type { Hooks, Tool } from "@loopwright/core";
import { type Chatbots, chatbotTool } from "./chatbot-tool.ts";
import { knowledgeHooks } from "./knowledge-hooks.ts";
import { type RagToolOptions, ragTool } from "./rag-tool.ts";

export interface KnowledgeToolsOptions extends RagToolOptions {
  /** Absent: there is no `chatbot_tool`. */
  readonly chatbots?: Chatbots;
}

/** A tool as a catalogue of tools takes it (`@loopwright/tools-registry`): with the modes that bring it and when to choose it. */
export interface KnowledgeToolEntry {
  readonly tool: Tool;
  readonly modes: readonly string[];
  readonly selectionRule: string;
}

/** What an agent takes: `createAgent({ tools: knowledge.tools, hooks: [knowledge.hooks] })`. */
export interface KnowledgeTools {
  readonly tools: readonly Tool[];
  readonly hooks: Hooks;
  /** The same tools for a catalogue. */
  readonly entries: readonly KnowledgeToolEntry[];
}

/** The tools `rag_tool` and, where there are chatbots, `chatbot_tool`, with the hooks that they need. @throws AgentError CONFIG_INVALID */
export function knowledgeTools({ chatbots, ...options }: KnowledgeToolsOptions): KnowledgeTools {
  const rag: KnowledgeToolEntry = {
    tool: ragTool(options),
    modes: ["RAG", "CHATBOT"],
    selectionRule: "For questions about attached documents, pasted texts and what the knowledge base holds. Name the sources.",
  };
  const chatbot = chatbots && {
    tool: chatbotTool({ knowledge: options.knowledge, chatbots }),
    modes: ["CHATBOT"],
    selectionRule: "For questions that one of the chatbots was set up for.",
  };
  const entries = chatbot ? [rag, chatbot] : [rag];
  return { entries, tools: entries.map(({ tool }) => tool), hooks: knowledgeHooks() };
}
