import { z } from "zod";
import { accessOf } from "../../identity/access-of-principal.ts";
import type { Route } from "../../request/route.ts";
import { ruleList } from "../../schemas/index.ts";

export const listRulesRoute: Route = {
  method: "GET",
  path: "/api/approval-rules",
  id: "listApprovalRules",
  summary: "The decisions of the caller that hold for later calls in all sessions, the newest first.",
  access: "principal",
  action: "approval.rules",
  responses: { 200: { description: "All of them; those of one session stand in its `remembered`.", schema: ruleList } },
  async handle({ principal, server: { options } }) {
    const { approvals } = options;
    return Response.json({ remembers: approvals !== undefined, rules: (await approvals?.list(accessOf(principal))) ?? [] });
  },
};

interface RuleParams {
  readonly rule: string;
}

const removedRule = z.object({ removed: z.boolean() });
const ruleParams: z.ZodType<RuleParams> = z.object({ rule: z.string().max(100) });

export const removeRuleRoute: Route<RuleParams> = {
  method: "DELETE",
  path: "/api/approval-rules/:rule",
  id: "removeApprovalRule",
  summary: "Revokes a decision of the caller that holds for later calls: they are asked about again.",
  access: "principal",
  action: "approval.rules",
  params: ruleParams,
  responses: { 200: { description: "`removed` is false if the caller had no such rule.", schema: removedRule } },
  async handle({ principal, params: { rule }, server: { options } }) {
    return Response.json({ removed: (await options.approvals?.forget(accessOf(principal), rule)) ?? false });
  },
};
