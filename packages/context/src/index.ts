export { contextEngine } from "./context-engine.ts";
export type { ContextBudgets, ContextEngineOptions } from "./context-options.ts";
export { lightCounter } from "./sizes.ts";
