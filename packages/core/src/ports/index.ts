/** The interfaces that companion packages implement: types, and the limits that belong to them. */

export type { SessionRef } from "../message/session-ref.ts";
export { idPattern, isId, refKey } from "../message/session-ref.ts";
export type { ApprovalMemory, ApprovalRule, DecidedCall } from "./approval-memory.ts";
export type { Blob, BlobPut, BlobStore } from "./blob-store.ts";
export type { Clock } from "./clock.ts";
export type {
  ContextCall,
  ContextCompaction,
  ContextEngine,
  ContextHistory,
  ContextPreparation,
  ContextPreparing,
  ContextReservation,
  ContextSpending,
  FittedRequest,
  MessageSizes,
  SessionContext,
} from "./context-engine.ts";
export type { Embedder, Embeddings, EmbedRequest } from "./embedder.ts";
export type { ChannelListening, EventChannel, Notification, ScopeListener } from "./event-channel.ts";
export type { IdSource } from "./id-source.ts";
export type { GeneratedImage, ImageGenerator, ImageRequest } from "./image-generator.ts";
export type { Logger } from "./logger.ts";
export type { ModelCallIo, ModelCapabilities, ModelProvider, ModelRequest, SystemPart, ToolChoice, ToolSpec } from "./model-provider.ts";
export type { PriceTable } from "./price-table.ts";
export type { RunQueue, RunQueueWorker } from "./run-queue.ts";
export type { ScheduleRules } from "./schedule-rules.ts";
export type { SecretStore } from "./secret-store.ts";
export { secretLimits } from "./secret-store.ts";
export type { IndexQuery, ListQuery, SearchQuery, SessionHit, SessionIndex, SessionSummary, WaitingReason } from "./session-index.ts";
export type {
  AppendOutcome,
  AppendRequest,
  ClaimOutcome,
  DueOptions,
  DueSession,
  LeaseRenewal,
  LogHead,
  SessionLog,
} from "./session-log.ts";
export { appendLimits } from "./session-log.ts";
export type { SessionStore } from "./session-store.ts";
export type { SnapshotStore } from "./snapshot-store.ts";
export type { CountedPart, TokenCounter } from "./token-counter.ts";
export type { LedgerCall, LedgerOutcome, LedgerPeriod, LedgerRequest, LedgerSpending, UsageAmount, UsageLedger } from "./usage-ledger.ts";
