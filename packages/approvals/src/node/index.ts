/** What needs Node.js. */
export { type SqliteRules, type SqliteRulesOptions, sqliteRules } from "./sqlite-rules.ts";
