/** What sessions do in numbers, for operators and users. */
export { type CacheFinding, cacheStream } from "./cache/cache-finding.ts";
export { type CacheWatch, type CacheWatchOptions, cacheWatch } from "./cache/cache-watch.ts";
export type { EventBounds, EventQuery, EventStore, StoredEvent, TelemetryEvent } from "./events/event-store.ts";
export { type MemoryEventsOptions, memoryEvents } from "./events/memory-events.ts";
export { latencyEvents } from "./latency/latency-events.ts";
export { type LatencyRecord, latencyStream, type ToolTiming } from "./latency/latency-record.ts";
export { type LatencyReport, latencyReport, type ModelLatency, type Percentiles, type ToolLatency } from "./latency/latency-report.ts";
export { type TurnObserverOptions, turnObserver } from "./latency/turn-observer.ts";
export { type JsonLoggerOptions, jsonLogger } from "./logs/json-logger.ts";
export { redactFields, redactText } from "./logs/redact.ts";
export { quotaLimits } from "./quotas/quota-limits.ts";
export { type QuotaStanding, quotaStandings, type ReadableLedger, type StandingOptions } from "./quotas/quota-standing.ts";
export { cacheRoute, type FindingsPage, type FindingsQuery, findingsOf } from "./routes/cache-route.ts";
export { type LatencyRouteOptions, latencyRoute, latencyWindowMs } from "./routes/latency-route.ts";
export { quotasRoute } from "./routes/quotas-route.ts";
export {
  type Reach,
  type ReachOf,
  reachByTrust,
  type TelemetryPrincipal,
  type TelemetryRequest,
  type TelemetryRoute,
} from "./routes/telemetry-route.ts";
export { type UsageRouteOptions, usageQueryOf, usageRoute } from "./routes/usage-route.ts";
export { type MemoryUsageOptions, memoryUsage } from "./usage/memory-usage.ts";
export {
  type UsageDimension,
  type UsageEntry,
  type UsageQuery,
  type UsageStore,
  type UsageSum,
  usageDimensions,
} from "./usage/usage-entry.ts";
export { type UsageObserverOptions, usageObserver } from "./usage/usage-observer.ts";
