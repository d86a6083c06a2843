/** What needs Node.js. */
export { filePolicy } from "./file-policy.ts";
export { type SqliteConfig, type SqliteConfigOptions, sqliteConfig } from "./sqlite-config.ts";
