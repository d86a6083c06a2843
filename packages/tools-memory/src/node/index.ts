/** What needs Node.js. */
export { type SqliteMemory, type SqliteMemoryOptions, sqliteMemory } from "./sqlite-memory.ts";
