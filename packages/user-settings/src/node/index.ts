/** What needs Node.js. */
export { type GuardedTransportOptions, guardedTransport } from "./guarded-transport.ts";
export { type SqliteRecords, type SqliteRecordsOptions, sqliteRecords } from "./sqlite-records.ts";
