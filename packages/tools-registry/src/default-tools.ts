import type { Labels, ToolChoice } from "@loopwright/core";
import { modesOf } from "./session-tools.ts";

/** The modes that a user may add to an input. */
export const orchestratorModes = ["RAG", "CHATBOT", "DATA_ANALYSIS", "DEEP_RESEARCH"] as const;

/** Names of the tools that the default list knows, by what they do. */
export const toolNames = {
  retrieveMemory: "retrieve_memory_tool",
  storeMemory: "store_memory_tool",
  craft: "craft_tool",
  webSearch: "web_search_tool",
  image: "image_generation_tool",
  rag: "rag_tool",
  chatbot: "chatbot_tool",
  dataAnalysis: "data_analysis_tool",
} as const;

/** Settings of the user that the default list depends on. */
export interface DefaultListSettings {
  /** False: no tool reads or writes memories. Default true. */
  readonly memory?: boolean;
}

/** The list of a run without another rule: five tools, and those of its modes. Deep research begins with none. */
export function defaultToolNames(modes: readonly string[], { memory = true }: DefaultListSettings = {}): readonly string[] {
  if (modes.includes("DEEP_RESEARCH")) return [];
  const memories = memory ? [toolNames.retrieveMemory, toolNames.storeMemory] : [];
  return [
    ...memories,
    toolNames.craft,
    toolNames.webSearch,
    toolNames.image,
    ...(modes.includes("RAG") || modes.includes("CHATBOT") ? [toolNames.rag] : []),
    ...(modes.includes("CHATBOT") ? [toolNames.chatbot] : []),
    ...(modes.includes("DATA_ANALYSIS") ? [toolNames.dataAnalysis] : []),
  ];
}

/** The list of `defaultToolNames` for the label `modes`. */
export const defaultFirstList = ({ labels }: { readonly labels: Labels }): readonly string[] => defaultToolNames(modesOf(labels));

/**
 * The tool that the first model call must use: the chatbot where the label `chatbotId` names one, else the search of attachments where the label
 * `attachments` names any. `undefined`: the model chooses.
 */
export function defaultChoice({ labels, shown }: { readonly labels: Labels; readonly shown: ReadonlySet<string> }): ToolChoice | undefined {
  if ((labels["chatbotId"] ?? "") !== "" && shown.has(toolNames.chatbot)) return { tool: toolNames.chatbot };
  if ((labels["attachments"] ?? "") !== "" && shown.has(toolNames.rag)) return { tool: toolNames.rag };
  return undefined;
}
