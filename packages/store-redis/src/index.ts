/** Session log, leases, index, blobs, snapshots and a usage ledger on Redis. */
export type { RedisReport } from "./check-store.ts";
export type { Durability } from "./connection/startup-checks.ts";
export type { RedisLedger, RedisLedgerOptions } from "./redis-ledger.ts";
export { type RedisStore, type RedisStoreOptions, redisStore } from "./redis-store.ts";
