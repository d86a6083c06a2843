/** Approvals of tool calls: a policy by tool, and decisions that hold for later calls. */
export type { ApprovalPolicy, ToolPolicy } from "./approval-policy.ts";
export {
  type ApprovalBacktestOptions,
  type ApprovalBacktestReport,
  type BacktestedCall,
  backtestApprovals,
} from "./backtest-approvals.ts";
export type { GateOutcome } from "./calls-of-log.ts";
export { type Approvals, type ApprovalsOptions, createApprovals } from "./create-approvals.ts";
export { fitsPattern } from "./fits-pattern.ts";
export { inMemoryRules } from "./in-memory-rules.ts";
export { parseApprovalPolicy } from "./parse-approval-policy.ts";
export { type ApprovalPattern, type ArgumentMatcher, checkedPattern, exactPattern } from "./pattern.ts";
export { type ApprovalRuleStore, type RuleOwner, ruleLimits } from "./rule-store.ts";
