import { AgentError } from "@loopwright/core";
import type { ApprovalRule } from "@loopwright/core/ports";
import { type ApprovalRuleStore, type RuleOwner, ruleLimits } from "./rule-store.ts";

/** Rules in this process alone: for tests and trials. */
export function inMemoryRules(): ApprovalRuleStore {
  const owners = new Map<string, Map<string, ApprovalRule>>();
  const keyOf = ({ user, scope }: RuleOwner): string => JSON.stringify([scope, user]);
  return {
    async put(owner, rule) {
      const rules = owners.get(keyOf(owner)) ?? new Map<string, ApprovalRule>();
      if (!rules.has(rule.id) && rules.size >= ruleLimits.perOwnerMax) throw rulesFull();
      owners.set(keyOf(owner), rules.set(rule.id, structuredClone(rule)));
    },
    list: async (owner, toolName) =>
      [...(owners.get(keyOf(owner))?.values() ?? [])]
        .filter((rule) => toolName === undefined || rule.toolName === toolName)
        .sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? -1 : 1)),
    delete: async (owner, id) => owners.get(keyOf(owner))?.delete(id) ?? false,
    async clear(owner) {
      const count = owners.get(keyOf(owner))?.size ?? 0;
      owners.delete(keyOf(owner));
      return count;
    },
  };
}

/** The error for one rule too many. */
export const rulesFull = (): AgentError =>
  new AgentError("STORE_FULL", {
    message: `The user has ${ruleLimits.perOwnerMax} rules for approvals already.`,
    fix: "Remove a rule that is no longer needed.",
  });
