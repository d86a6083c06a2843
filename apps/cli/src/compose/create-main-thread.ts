import type { SettingsSource } from "@loopwright/agents-research";
import { contextEngine } from "@loopwright/context";
import { type Agent, agentTool, type Hooks, type ModelRef, type Tool } from "@loopwright/core";
import type { ContextEngine } from "@loopwright/core/ports";
import { prices } from "@loopwright/prices";
import type { KnowledgeTools } from "@loopwright/tools-knowledge";
import { type AssistantSurface, assistantPrompt } from "./create-assistant.ts";
import type { ResearchAgents } from "./create-research.ts";

/** The mode of an input that brings the research. */
export const researchMode = "DEEP_RESEARCH";
/** The mode of an input that is answered from the knowledge base: its first call searches it. */
export const searchMode = "RAG";
/** The mode of an input that brings the chatbots. */
export const chatbotMode = "CHATBOT";

export interface MainThreadParts {
  readonly model: readonly ModelRef[];
  readonly surface: AssistantSurface;
  /** The assistant's. */
  readonly tools: readonly Tool[];
  readonly filesDirectory: string;
  /** Undefined: there is no web. */
  readonly web: ResearchAgents | undefined;
  /** The knowledge base and the chatbots. Undefined: there are none. */
  readonly search?: KnowledgeTools | undefined;
  /** What users have set, read before each call. */
  readonly preferences?: SettingsSource;
  /** Default: that of `@loopwright/context`. */
  readonly context?: ContextEngine;
  /** Hooks beside those of the main thread. */
  readonly hooks?: readonly Hooks[];
}

/** The assistant as a main thread: its tools, a web where there is one, and the whole research as a tool in the mode DEEP_RESEARCH. */
export async function createMainThread(parts: MainThreadParts): Promise<Agent> {
  const { model, surface, tools, filesDirectory, web, search, preferences, context = contextEngine(), hooks = [] } = parts;
  const [{ mainThreadAgent }, { createSessionTools, defaultChoice, modesOf, toolNames }] = await Promise.all([
    import("@loopwright/agents-research"),
    import("@loopwright/tools-registry"),
  ]);
  const research = web && {
    tool: agentTool({ agent: web.research, description: "Researches a question on the web and shows the user a report with citations." }),
    modes: [researchMode],
    selectionRule: "For a question that needs several searches and a report.",
  };
  const own = new Set(tools.map(({ name }) => name));
  // The search is there in every mode, as it is for the other agents; a mode brings the chatbots.
  const searching = (search?.entries ?? []).filter(({ tool }) => !own.has(tool.name) && tool.name !== toolNames.rag);
  const onTheWeb = web?.tools.filter(({ name }) => !own.has(name)) ?? [];
  return mainThreadAgent({
    name: "main-thread",
    model,
    prompt: assistantPrompt(surface),
    tools: createSessionTools({
      sources: { platform: [...tools, ...onTheWeb], companions: [...(research ? [research] : []), ...searching] },
      choose: (context) =>
        defaultChoice(context) ??
        (modesOf(context.labels).includes(searchMode) && context.shown.has(toolNames.rag) ? { tool: toolNames.rag } : undefined),
    }),
    context,
    hooks: [...hooks, ...(search ? [search.hooks] : [])],
    prices: prices(),
    ...(preferences ? { settings: preferences } : {}),
    files: { directory: filesDirectory },
  });
}
