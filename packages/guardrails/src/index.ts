/** Guardrails: checks of the messages, answers, calls and results of agents. */
export { type BacktestHit, type BacktestOptions, type BacktestReport, backtest } from "./backtest/backtest.ts";
export type { Finding, Match, TextPlace } from "./checks/finding.ts";
export { type AuditedStep, auditHooks } from "./hooks/audit-hooks.ts";
export { createGuardrails, type Guardrails, type GuardrailsOptions } from "./hooks/create-guardrails.ts";
export { type HookGroups, hookGroups } from "./hooks/hook-groups.ts";
export type { GuardrailVerdict } from "./hooks/judgement.ts";
export { loggingHooks } from "./hooks/logging-hooks.ts";
export { progressHooks, type ToolPhase } from "./hooks/progress-hooks.ts";
export { type SkillGuardrails, type SkillHooksOptions, type SkillPattern, skillGuardrailHooks } from "./hooks/skill-guardrails.ts";
export {
  type CheckSettings,
  type Gate,
  type GuardrailAction,
  type GuardrailMode,
  type GuardrailPolicy,
  type PatternRule,
  type PiiKind,
  policyLimits,
} from "./policy/guardrail-policy.ts";
export { inMemoryConfig } from "./source/in-memory-config.ts";
export { checkPolicy, defaultPolicy, parsePolicy } from "./source/parse-policy.ts";
export { type ConfigStore, configLimits, guardrailsKey, type PolicySource, type StoredText, storedPolicy } from "./source/policy-source.ts";
export { type RedisConfigClient, type RedisConfigOptions, redisConfig } from "./source/redis-config.ts";
export { type SensitiveTextsOptions, sensitiveTexts } from "./source/sensitive-texts.ts";
