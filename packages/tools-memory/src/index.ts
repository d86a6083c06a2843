export { inMemoryStore } from "./in-memory-store.ts";
export { type Memory, type MemoryOwner, type MemoryStore, memoryLimits } from "./memory-store.ts";
export { type MemoryToolsOptions, memoryTools } from "./memory-tools.ts";
