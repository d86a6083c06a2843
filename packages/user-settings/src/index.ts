/** What users of a deployment set for themselves: models with keys of their own, and how they want to be answered. */
export type { GuardedTransport } from "./providers/guarded-transport.ts";
export type { AIProviderInstance, BuildOptions, ProviderBuilder, ShownInstance } from "./providers/provider-instance.ts";
export { type AssistantMode, providerRoutes } from "./providers/provider-routes.ts";
export {
  type BYOKMode,
  type OfferedProviders,
  type ProviderSettings,
  type ProviderSettingsOptions,
  providerSettings,
} from "./providers/provider-settings.ts";
export type { TestResult } from "./providers/tested-provider.ts";
export { memoryRecords } from "./records/memory-records.ts";
export { type ConditionalObjects, type ObjectRecordsOptions, objectRecords } from "./records/object-records.ts";
export { type RedisRecordsOptions, redisRecords } from "./records/redis-records.ts";
export {
  type RecordChange,
  type RecordKind,
  type RecordOwner,
  recordLimits,
  type StoredRecord,
  type UserRecord,
  type UserRecords,
} from "./records/user-records.ts";
export { type RetentionRoutesOptions, retentionRoutes } from "./retention/retention-routes.ts";
export {
  type RetentionChange,
  type RetentionOfScope,
  retentionLimits,
  type ScopeRetention,
  type ScopeRetentionOptions,
  type ScopeRule,
  scopeRetention,
} from "./retention/scope-retention.ts";
export { type SettingsRoutesOptions, settingsRoutes } from "./settings/settings-routes.ts";
export { type PrincipalSettings, type UserSettingsOptions, type UserSettingsStore, userSettings } from "./settings/user-settings.ts";
export type { SettingsCaller, SettingsRequest, SettingsRoute } from "./settings-route.ts";
