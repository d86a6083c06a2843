import type { Access, ApprovalVerdict } from "../loop/fact.ts";
import type { JsonObject } from "../message/json.ts";

/** A decision of a user that holds for later calls in all sessions of the user within a scope. */
export interface ApprovalRule {
  /** Names the rule among those of its owner; a rule about the same calls has the same id. */
  readonly id: string;
  readonly toolName: string;
  readonly decision: ApprovalVerdict;
  /** Which calls of the tool, as the memory wrote it. */
  readonly pattern: JsonObject;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Where it was decided. */
  readonly sessionId?: string;
}

/** The call that is decided on. */
export interface DecidedCall {
  readonly toolName: string;
  /** As they were decided on: those of the request, or the edited ones. */
  readonly args: JsonObject;
}

/** Remembers decisions of people for later calls. `createApprovals` of `@loopwright/approvals` gives one. */
export interface ApprovalMemory {
  /**
   * The pattern to keep for calls like this one. `asked`: as a caller wrote it; absent: exactly these arguments.
   * @throws AgentError INPUT_INVALID when it is no pattern, or does not cover the call
   */
  patternFor(call: DecidedCall, asked?: JsonObject): JsonObject;
  /** Keeps a rule of the user; a rule about the same calls takes its place. @throws AgentError STORE_FULL, STORE_* */
  remember(owner: Access, rule: Omit<ApprovalRule, "id" | "createdAt">): Promise<ApprovalRule>;
  /** The rules of the user within the scope, the newest first. @throws AgentError STORE_* */
  list(owner: Access): Promise<readonly ApprovalRule[]>;
  /** Whether the user had such a rule. @throws AgentError STORE_* */
  forget(owner: Access, id: string): Promise<boolean>;
}
