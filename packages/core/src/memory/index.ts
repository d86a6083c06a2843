/** The in-memory adapter of every port. */

export type { BookLedger, LedgerOptions } from "../stores/book-ledger.ts";
export type { LedgerLimit, LedgerLimits } from "../stores/ledger-limits.ts";
export { characterCounter } from "./character-counter.ts";
export { consoleLogger } from "./console-logger.ts";
export { type DeadlineOptions, startDeadline } from "./deadline.ts";
export { fixedPrices, type ModelPrice } from "./fixed-prices.ts";
export { type ManualClock, manualClock } from "./manual-clock.ts";
export { type MemoryChannelOptions, memoryChannel } from "./memory-channel.ts";
export { type MemoryLedger, type MemoryLedgerOptions, memoryLedger } from "./memory-ledger.ts";
export { type MemoryQueueOptions, memoryQueue } from "./memory-queue.ts";
export { memorySecrets } from "./memory-secrets.ts";
export { randomIds } from "./random-ids.ts";
export {
  type ScriptedCall,
  type ScriptedOptions,
  type ScriptedProvider,
  type ScriptedStep,
  type ScriptedTurn,
  scripted,
} from "./scripted-provider.ts";
export { seededIds } from "./seeded-ids.ts";
export { seededRandom } from "./seeded-random.ts";
export { silentLogger } from "./silent-logger.ts";
export { type MemoryStoreOptions, memoryStore } from "./store/memory-store.ts";
export { type StoreDeadlineOptions, withStoreDeadlines } from "./store/store-deadlines.ts";
export { systemClock } from "./system-clock.ts";
