import type { Access, ApprovalVerdict } from "../loop/fact.ts";
import type { JsonObject } from "../message/json.ts";

/** A decision of a user that holds for later calls in all sessions of the user within a scope. */
export interface ApprovalRule {
  /** Unique among the rules of the owner; a rule about the same calls has the same id. */
  readonly id: string;
  readonly toolName: string;
  readonly decision: ApprovalVerdict;
  /** The calls that the rule covers, in the form of the memory. */
  readonly pattern: JsonObject;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** The session of the decision. */
  readonly sessionId?: string;
}

/** The call that is decided on. */
export interface DecidedCall {
  readonly toolName: string;
  /** The arguments that were decided on: those of the request, or the edited ones. */
  readonly args: JsonObject;
}

/** Remembers decisions of people for later calls. `createApprovals` of `@loopwright/approvals` makes one. */
export interface ApprovalMemory {
  /**
   * The pattern to keep for calls like this one. `asked`: the pattern that a caller wrote; absent: exactly these arguments.
   * @throws AgentError INPUT_INVALID when it is no pattern, or does not cover the call
   */
  patternFor(call: DecidedCall, asked?: JsonObject): JsonObject;
  /** Keeps a rule of the user. It replaces an earlier rule about the same calls. @throws AgentError STORE_FULL, STORE_* */
  remember(owner: Access, rule: Omit<ApprovalRule, "id" | "createdAt">): Promise<ApprovalRule>;
  /** The rules of the user within the scope, the newest first. @throws AgentError STORE_* */
  list(owner: Access): Promise<readonly ApprovalRule[]>;
  /** Deletes a rule; false if there is none. @throws AgentError STORE_* */
  forget(owner: Access, id: string): Promise<boolean>;
}
