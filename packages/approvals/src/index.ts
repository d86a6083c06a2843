/** Approvals of tool calls: a policy by tool, and decisions that hold for later calls. */
export type { ApprovalPolicy, ToolPolicy } from "./approval-policy.ts";
export { type Approvals, type ApprovalsOptions, createApprovals } from "./create-approvals.ts";
export { fitsPattern } from "./fits-pattern.ts";
export { inMemoryRules } from "./in-memory-rules.ts";
export { type ApprovalPattern, type ArgumentMatcher, checkedPattern, exactPattern } from "./pattern.ts";
export { type ApprovalRuleStore, type RuleOwner, ruleLimits } from "./rule-store.ts";
