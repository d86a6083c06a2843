/** What needs Node.js. */
export {
  type MarkdownMemory,
  type MarkdownMemoryOptions,
  type MemoryEntry,
  markdownMemory,
} from "./markdown/markdown-memory.ts";
export { memoryFileTools } from "./markdown/memory-file-tools.ts";
export { markdownLimits } from "./markdown/memory-files.ts";
export type { MemoryPassage, RankedPassage } from "./markdown/rank-passages.ts";
export { type RememberOptions, rememberBeforeCompaction } from "./markdown/remember-before-compaction.ts";
export { type SqliteMemory, type SqliteMemoryOptions, sqliteMemory } from "./sqlite-memory.ts";
