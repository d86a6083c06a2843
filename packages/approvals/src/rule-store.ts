import type { Access } from "@loopwright/core";
import type { ApprovalRule } from "@loopwright/core/ports";

/** Whose rules they are: a user within a scope (a tenant). Rules of another user or another scope are never seen. */
export type RuleOwner = Pick<Access, "user" | "scope">;

/** The port of the rules that outlive a session. `ruleStoreKit` of `@loopwright/approvals/testing` holds its promises. */
export interface ApprovalRuleStore {
  /** Keeps a rule; one of the same id takes its place. @throws AgentError STORE_FULL beyond `ruleLimits.perOwnerMax` */
  put(owner: RuleOwner, rule: ApprovalRule): Promise<void>;
  /** The owner's rules, the newest first, then by id. `toolName`: those of one tool. */
  list(owner: RuleOwner, toolName?: string): Promise<readonly ApprovalRule[]>;
  /** Whether the owner had such a rule. */
  delete(owner: RuleOwner, id: string): Promise<boolean>;
  /** Deletes all rules of the owner and gives their count. */
  clear(owner: RuleOwner): Promise<number>;
}

export const ruleLimits: {
  readonly perOwnerMax: number;
  readonly argumentsMax: number;
  readonly textMax: number;
  readonly patternBytesMax: number;
} = {
  /** Rules of one owner. */
  perOwnerMax: 500,
  /** Arguments that one pattern names. */
  argumentsMax: 50,
  /** Characters of a folder or an origin. */
  textMax: 1_000,
  /** Bytes of a pattern as JSON. */
  patternBytesMax: 4_096,
};
