import type { AcceptedDecision, AcceptedSubmission, AgentEvent, AgentSession, Fact, SessionEvent } from "../src/index.ts";

/** A stream, whose it is, and what came of it. */
export interface WatchedStream {
  readonly process: Process;
  readonly text: string;
  readonly events: readonly AgentEvent[];
  /** Once all was calm. */
  outcome: "pending" | "resolved" | "rejected";
  isRead: boolean;
}

/** An input that was submitted without a stream, and what came of it. */
export interface Submission {
  readonly process: Process;
  readonly text: string;
  accepted: AcceptedSubmission | undefined;
  outcome: "pending" | "resolved" | "rejected";
}

/** A decision on a call that waited for approval, and what came of it. */
export interface Decision {
  readonly process: Process;
  readonly callKey: string;
  accepted: AcceptedDecision | undefined;
  outcome: "pending" | "resolved" | "rejected";
}

/** One process: a handle, its view of the store, its clock. */
export interface Process {
  readonly node: string;
  readonly session: AgentSession;
  readonly published: readonly SessionEvent[];
  /** What it received as a follower that follows again whenever the store is lost; absent where it does not follow. */
  readonly followed: SessionEvent[] | undefined;
  isRested: boolean;
  /** May own the session: it did not begin as a mere watcher, and was not handed over. */
  drives: boolean;
  /** Dead: nothing it asks is answered, none of its timers fires. Let go: its handle was disposed. */
  state: "alive" | "dead" | "let go";
  /** Timers of its driver. */
  readonly pending: () => number;
}

export interface Outcome {
  readonly facts: readonly Fact[];
  readonly streams: readonly WatchedStream[];
  readonly submissions: readonly Submission[];
  readonly decisions: readonly Decision[];
  readonly processes: readonly Process[];
  /** Call keys of once tools, as often as they were started. */
  readonly onceStarts: readonly string[];
  readonly isLeased: boolean;
  /** Deltas that were received by handles that never drive. */
  readonly foreignDeltas: number;
  readonly sent: readonly string[];
}
