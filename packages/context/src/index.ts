export { type CompactingEngine, contextEngine } from "./context-engine.ts";
export type { CompactionOptions, ContextBudgets, ContextEngineOptions, SummaryOptions } from "./context-options.ts";
export { type RecallArguments, type RecallOptions, recallTool } from "./recall-tool.ts";
export { lightCounter } from "./sizes.ts";
