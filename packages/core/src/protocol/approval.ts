import type { PendingApproval } from "../loop/event.ts";
import type { Access, ApprovalVerdict } from "../loop/fact.ts";
import type { JsonObject } from "../message/json.ts";

/** A person's decision on a call that awaits approval. */
export interface ApprovalDecision {
  readonly decision: ApprovalVerdict;
  /** Arguments for the tool in place of those of the request; checked again by the tool's schema. Only with `allow`. */
  readonly args?: JsonObject;
  /** Kept with the decision; the model reads it when the call is denied. At most 2,000 characters. */
  readonly note?: string;
  /** The digest of the pending approval: a decision is refused if the pending arguments are others. */
  readonly argsDigest?: string;
  /**
   * The decision also holds for later calls of the session and of its children that match this pattern. Needs hooks that read it, such as those of
   * `@loopwright/approvals`. At most 4 KiB.
   */
  readonly remember?: JsonObject;
  /** Equal keys with equal decisions are accepted once. */
  readonly idempotencyKey?: string;
}

export interface DecideOptions extends ApprovalDecision {
  /** The caller that decides. Default: the access that the session was opened with. */
  readonly access?: Access;
}

/** A recorded decision. */
export interface AcceptedDecision {
  /** The run of the call. */
  readonly runId: string;
  /** Seq of the fact with the decision. */
  readonly seq: number;
  /** True if the decision was accepted before. */
  readonly replayed: boolean;
}

/** A pending approval in the list of all sessions. */
export interface InboxApproval extends Omit<PendingApproval, "args"> {
  /** The session that takes the decision. `session` of a call of a child is the child's. */
  readonly sessionId: string;
  readonly title?: string;
  /** Absent if they take more than 8 KiB: then read the session. */
  readonly args?: JsonObject;
  /** Bytes of the arguments as JSON. */
  readonly argsBytes: number;
}

/** What waits for decisions, by session with the newest change first. */
export interface ApprovalPage {
  readonly approvals: readonly InboxApproval[];
  /** The beginning of the next page; absent: there is none. An empty page may have a next page. */
  readonly next?: string;
}

/** The later calls for which a decision also holds: those of this session, or those of all sessions of the user. */
export interface RememberRequest {
  readonly for: "session" | "always";
  /** The calls that match; absent: those with exactly the same arguments. */
  readonly pattern?: JsonObject;
}
