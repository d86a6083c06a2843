import type { PendingApproval } from "../loop/event.ts";
import type { Access, ApprovalVerdict } from "../loop/fact.ts";
import type { JsonObject } from "../message/json.ts";

/** A person's decision on a call that awaits approval. */
export interface ApprovalDecision {
  readonly decision: ApprovalVerdict;
  /** What the tool gets in place of the arguments that were asked about; checked again by the tool's schema. Only with `allow`. */
  readonly args?: JsonObject;
  /** Kept with the decision; the model reads it when the call is denied. At most 2,000 characters. */
  readonly note?: string;
  /** As the pending approval gave it: a decision about other arguments than those that wait is refused. */
  readonly argsDigest?: string;
  /**
   * The decision holds for later calls of the session that fit this pattern, too, those of its children included. Hooks read it: without one that does,
   * as those of `@loopwright/approvals`, it changes nothing. At most 4 KiB.
   */
  readonly remember?: JsonObject;
  /** Equal keys with equal decisions are accepted once. */
  readonly idempotencyKey?: string;
}

export interface DecideOptions extends ApprovalDecision {
  /** The caller that decides. Default: the access that the session was opened with. */
  readonly access?: Access;
}

/** A decision that the log has. */
export interface AcceptedDecision {
  /** The run that continues with it. */
  readonly runId: string;
  /** The fact that holds it. */
  readonly seq: number;
  /** It was accepted before; nothing was recorded. */
  readonly replayed: boolean;
}

/** A pending approval in the list of all sessions. */
export interface InboxApproval extends Omit<PendingApproval, "args"> {
  /** The session to decide it at. `session` of a call of a child is another one. */
  readonly sessionId: string;
  readonly title?: string;
  /** Absent where they take more than 8 KiB: then read the session. */
  readonly args?: JsonObject;
  /** Of the arguments as JSON. */
  readonly argsBytes: number;
}

/** What waits for decisions, by session with the newest change first. */
export interface ApprovalPage {
  readonly approvals: readonly InboxApproval[];
  /** Where the next page begins; absent: there is none. A page may be empty and have a next one. */
  readonly next?: string;
}

/** For how long a decision holds beyond its call: in this session, or always in the sessions of the user. */
export interface RememberRequest {
  readonly for: "session" | "always";
  /** Which calls; absent: those with exactly the same arguments. */
  readonly pattern?: JsonObject;
}
