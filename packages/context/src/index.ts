export { type CompactingEngine, contextEngine } from "./context-engine.ts";
export type { CompactionOptions, ContextBudgets, ContextEngineOptions, SummaryOptions } from "./context-options.ts";
export { lightCounter } from "./sizes.ts";
