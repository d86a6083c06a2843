import type {
  AcceptedDecision,
  ApprovalDecision,
  ApprovalPage,
  ApprovalRule,
  InboxApproval,
  PendingApproval,
  RememberRequest,
} from "@loopwright/core/protocol";
import { z } from "zod";
import { jsonObject, listOf } from "./json.ts";
import { exactly } from "./schema-of-type.ts";

/** A tool call that waits for a person's approval. */
export const pendingApproval: z.ZodType<PendingApproval> = exactly<PendingApproval>()(
  z.object({
    toolCallId: z.string(),
    callKey: z.string(),
    toolName: z.string(),
    args: jsonObject,
    argsDigest: z.string(),
    reason: z.string().exactOptional(),
    deadline: z.number().exactOptional(),
    session: z.string().exactOptional(),
    agent: z.string().exactOptional(),
  }),
);

/** Body of `POST /api/sessions/:id/approvals/:callKey`. */
export interface DecisionRequest extends Omit<ApprovalDecision, "idempotencyKey" | "remember"> {
  /** Needs `argsDigest`. */
  readonly remember?: RememberRequest;
}

const remember: z.ZodType<RememberRequest> = exactly<RememberRequest>()(
  z.object({ for: z.enum(["session", "always"]), pattern: jsonObject.exactOptional() }),
);

export const decisionRequest: z.ZodType<DecisionRequest> = exactly<DecisionRequest>()(
  z.object({
    decision: z.enum(["allow", "deny"]),
    args: jsonObject.exactOptional(),
    note: z.string().max(2_000).exactOptional(),
    argsDigest: z.string().max(64).exactOptional(),
    remember: remember.exactOptional(),
  }),
);

const inboxApproval: z.ZodType<InboxApproval> = exactly<InboxApproval>()(
  z.object({
    sessionId: z.string(),
    title: z.string().exactOptional(),
    toolCallId: z.string(),
    callKey: z.string(),
    toolName: z.string(),
    args: jsonObject.exactOptional(),
    argsBytes: z.number(),
    argsDigest: z.string(),
    reason: z.string().exactOptional(),
    deadline: z.number().exactOptional(),
    session: z.string().exactOptional(),
    agent: z.string().exactOptional(),
  }),
);

/** A page of calls that wait for decisions. */
export const approvalPage: z.ZodType<ApprovalPage> = exactly<ApprovalPage>()(
  z.object({ approvals: listOf(inboxApproval), next: z.string().exactOptional() }),
);

const approvalRule: z.ZodType<ApprovalRule> = exactly<ApprovalRule>()(
  z.object({
    id: z.string(),
    toolName: z.string(),
    decision: z.enum(["allow", "deny"]),
    pattern: jsonObject,
    createdAt: z.number(),
    sessionId: z.string().exactOptional(),
  }),
);

/** The rules of a user. */
export interface RuleList {
  /** False: this server remembers no decisions. */
  readonly remembers: boolean;
  readonly rules: readonly ApprovalRule[];
}

export const ruleList: z.ZodType<RuleList> = exactly<RuleList>()(z.object({ remembers: z.boolean(), rules: listOf(approvalRule) }));

/** A recorded decision, with the session that it belongs to. */
export interface DecisionAnswer extends AcceptedDecision {
  readonly sessionId: string;
}

export const acceptedDecision: z.ZodType<DecisionAnswer> = exactly<DecisionAnswer>()(
  z.object({ sessionId: z.string(), runId: z.string(), seq: z.number(), replayed: z.boolean() }),
);
