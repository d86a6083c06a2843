/** Sessions in one SQLite file. */
export type { SqliteReport } from "./operation.ts";
export { type SqliteStore, type SqliteStoreOptions, sqliteBackend, sqliteStore } from "./sqlite-store.ts";
