import type { AcceptedDecision, ApprovalDecision, PendingApproval } from "@loopwright/core/protocol";
import { z } from "zod";
import { exactly } from "./exactly.ts";
import { jsonObject } from "./json.ts";

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
export type DecisionRequest = Omit<ApprovalDecision, "idempotencyKey">;

export const decisionRequest: z.ZodType<DecisionRequest> = exactly<DecisionRequest>()(
  z.object({
    decision: z.enum(["allow", "deny"]),
    args: jsonObject.exactOptional(),
    note: z.string().max(2_000).exactOptional(),
    argsDigest: z.string().max(64).exactOptional(),
  }),
);

/** A recorded decision, with the session that it belongs to. */
export interface DecisionAnswer extends AcceptedDecision {
  readonly sessionId: string;
}

export const acceptedDecision: z.ZodType<DecisionAnswer> = exactly<DecisionAnswer>()(
  z.object({ sessionId: z.string(), runId: z.string(), seq: z.number(), replayed: z.boolean() }),
);
