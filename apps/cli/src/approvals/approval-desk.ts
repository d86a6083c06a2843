import type { ApprovalRule } from "@loopwright/core/ports";
import type { ApprovalDecision, InboxApproval, JsonObject, RememberRequest } from "@loopwright/core/protocol";

/** A decision as a command gives it. */
export interface DeskDecision extends Pick<ApprovalDecision, "decision" | "note" | "args"> {
  readonly remember?: RememberRequest;
}

/** A pending approval with all its arguments. */
export interface WholeApproval extends Omit<InboxApproval, "args"> {
  readonly args: JsonObject;
}

/** What waits for decisions, in a store or on a server, and the decisions that hold for later calls. */
export interface ApprovalDesk {
  /** By session, the newest change first; at most `limit`. */
  list(limit: number): Promise<readonly WholeApproval[]>;
  /** @throws AgentError APPROVAL_DECIDED, APPROVAL_MISMATCH, INPUT_INVALID */
  decide(approval: WholeApproval, decision: DeskDecision): Promise<void>;
  rules(): Promise<readonly ApprovalRule[]>;
  /** False when there is no such rule. */
  removeRule(id: string): Promise<boolean>;
  close(): Promise<void>;
}
