import type { AgentError } from "../errors.ts";
import type {
  AgentEvent,
  DurableEvent,
  EphemeralEvent,
  ExecuteStatus,
  PendingApproval,
  PendingToolCall,
  SessionEvent,
} from "../loop/event.ts";
import type { Access, InputMode, Labels, Retention, RunOptions, RunStatus, Sharing } from "../loop/fact.ts";
import type { Json, JsonObject } from "../message/json.ts";
import type { Message, MessageId, StopReason } from "../message/message.ts";
import type { Cost, Usage } from "../message/usage.ts";
import type { AcceptedDecision, DecideOptions } from "./approval.ts";
import type { CheckedInput } from "./checked-input.ts";
import type { EventCursor } from "./cursor.ts";
import type { ExecuteInput } from "./execute-input.ts";
import type { ScheduleFiring, ScheduleRequest, SessionSchedule } from "./schedule.ts";
import type { SessionSnapshot } from "./snapshot.ts";

export interface ExecuteOptions extends RunOptions {
  /**
   * What happens when a run is open. Default `enqueue`; `reject` throws SESSION_BUSY. `merge` shares the run of the input that waits last, if that input has
   * the same caller, options and labels.
   */
  readonly mode?: InputMode | "reject";
  /** The message to continue (for an edit, the parent of the edited message; `null`: from the start). Default: the head. */
  readonly parent?: MessageId | null;
  /** Equal keys with equal input and options are accepted once; the same key with others is refused with KEY_REUSED. */
  readonly idempotencyKey?: string;
  /** Recorded with the input, for prompts, hooks and tools. */
  readonly labels?: Labels;
  /**
   * The `traceparent` (W3C Trace Context) of the caller's work, recorded with the input. Ignored if it is malformed. Default: the value of an observer (see
   * `Observer.trace`).
   */
  readonly trace?: string;
  /** Aborts the run of this input, not only the stream of its events. */
  readonly signal?: AbortSignal;
}

/** Options as for `execute`, for an input whose caller does not wait for the answer. */
export interface SubmitOptions extends Omit<ExecuteOptions, "signal"> {
  /** The caller. Default: the access that the session was opened with. */
  readonly access?: Access;
  /** More content under the idempotency key: the same key with another value is refused. */
  readonly keyedContent?: Json;
}

/** A recorded input. */
export interface AcceptedSubmission {
  /** The run that answers the input. */
  readonly runId: string;
  /** Absent for results of calls. */
  readonly inputId?: string;
  /** Seq of the first fact of the input: the events of the run from there on answer it. */
  readonly seq: number;
  /** True if the input was accepted before. */
  readonly replayed: boolean;
}

/** A subscriber of a session. Must not throw. */
export interface SessionFollower {
  /** Takes events of one run, or of none, durable and ephemeral, in order. It must not keep the array. */
  events(events: readonly SessionEvent[], runId: string | undefined): void;
  /** Called when the session is idle or waits, also repeatedly. */
  rested?(): void;
  /**
   * Called last: the store is lost (follow again to continue), the session was removed (SESSION_CLOSED), or the handle was disposed.
   */
  lost?(error: AgentError): void;
}

/** What every result has. */
interface ResultOfAny {
  /** Messages that this execution added, oldest first. */
  readonly messages: readonly Message[];
  /** The text of the last assistant message. */
  readonly text: string;
  /** Why the last model call ended. */
  readonly finishReason?: StopReason;
  /** Usage of this execution. */
  readonly usage?: Usage;
  readonly cost?: Cost;
  /** Set when a limit ended the run or took its tools away. */
  readonly limit?: { readonly which: string; readonly value: number };
  readonly runId?: string;
}

/** The run has its answer. */
export interface CompletedResult<Output = unknown> extends ResultOfAny {
  readonly status: "completed";
  /** The answer as the agent's `output` schema returns it; `undefined` for an agent without one, and over HTTP. */
  readonly output: Output;
  readonly pendingToolCalls?: never;
  readonly pendingApprovals?: never;
  readonly error?: never;
}

/** The run waits: continue it with `session.answer` for a call, or `session.decide` for an approval. */
export interface WaitingResult extends ResultOfAny {
  readonly status: "awaiting_tool_execution";
  readonly pendingToolCalls: readonly PendingToolCall[];
  /** Calls that are awaiting approval. */
  readonly pendingApprovals: readonly PendingApproval[];
  readonly output?: never;
  readonly error?: never;
}

/** The run failed or was aborted. */
export interface FailedResult extends ResultOfAny {
  readonly status: "error" | "aborted";
  readonly error: AgentError;
  readonly output?: never;
  readonly pendingToolCalls?: never;
  readonly pendingApprovals?: never;
}

/** How an execution ended. Narrow it by `status`. */
export type ExecuteResult<Output = unknown> = CompletedResult<Output> | WaitingResult | FailedResult;

/**
 * One execution, begun at once and independent of its reader. Iterate it (once) for the events, ask `result` for the end, or both.
 * A reader slower than 1 MiB of events gets a snapshot in place of the deltas it missed.
 */
export interface ExecuteStream<Output = unknown> extends AsyncIterable<AgentEvent> {
  readonly sessionId: string;
  /** Resolves with a status whatever the run does. @throws AgentError STORE_* when the store is lost, SESSION_* and INPUT_INVALID when the input could not be accepted. */
  result(): Promise<ExecuteResult<Output>>;
  /** Stops the run and keeps the partial text. Resolves when the abort is recorded. */
  abort(reason?: string): Promise<void>;
}

/** The status of a session, in the words of executions. */
export type AgentSessionStatus = Exclude<ExecuteStatus, "aborted"> | "running";

/** The status of an execution, from that of its run: the one place where the words of the log become those of streams and results. */
export function executeStatusOf(run: RunStatus | "waiting"): ExecuteStatus {
  return run === "waiting" ? "awaiting_tool_execution" : run === "failed" ? "error" : run;
}

/** What was recorded, with a way to watch the run from then on. */
export interface Followed<Output = unknown> {
  /**
   * Streams the run from this record on, until it ends or waits again; missed events are read from the log. Each call makes a new stream. The stream ends at
   * once if the run waits for more answers or decisions.
   */
  stream(): ExecuteStream<Output>;
}

/** Options of the answer to a client call. */
export interface AnswerOptions {
  /** True: the call failed, for the reason in the output. Default false. */
  readonly isError?: boolean;
  /** The caller. Default: the access that the session was opened with. */
  readonly access?: Access;
  /** Equal keys with equal answers are accepted once. */
  readonly idempotencyKey?: string;
}

/** A handle on one session. Made at once; its state loads on first use. `Output`: the type of `result.output`. */
export interface AgentSession<Output = unknown> {
  readonly id: string;
  /** `completed` before the first input. */
  readonly status: AgentSessionStatus;
  readonly title: string | undefined;
  /** The model that was used last. */
  readonly model: string | undefined;
  /** The transcript: the path from the root to the head, oldest first. Empty until `ready`. */
  readonly messages: readonly Message[];
  /** Ids of `messages`, at the same places. */
  readonly messageIds: readonly MessageId[];
  readonly totalCost: Cost | undefined;
  readonly totalUsage: Usage | undefined;
  /** Tokens of the last model call, prompt and answer: what counts against the context window. */
  readonly contextTokens: number | undefined;
  readonly pendingToolCalls: readonly PendingToolCall[];
  /** Calls that are awaiting approval. */
  readonly pendingApprovals: readonly PendingApproval[];
  /** True if the session had a run under way when it was loaded, until it rests: `resume` continues it. */
  readonly isInterrupted: boolean;
  /** Schedules that will fire, the next one first. */
  readonly schedules: readonly SessionSchedule[];
  /** Due times of schedules that have passed, the newest first: the last 200 of the session. */
  readonly firings: readonly ScheduleFiring[];
  /** Number of the last fact that this handle has seen; 0 for a new session, and until `ready`. */
  readonly lastSeq: number;
  /** Cursor of the last durable event that this handle has seen or read past, `0.0` before the first; `undefined` if it is not known, and until `ready`. */
  readonly lastEvent: EventCursor | undefined;
  /** The open run. */
  readonly runId: string | undefined;
  /** True when the session does not proceed by itself: no run is open, it waits for an answer from outside, or it can only be read here. */
  readonly isResting: boolean;
  /**
   * True if a newer version has continued the session: everything before its first fact can be read, and each attempt to record something is refused with
   * SESSION_TOO_NEW.
   */
  readonly isReadOnly: boolean;
  /** True while this handle holds the lease, so that the session runs here. */
  readonly isOwner: boolean;
  /** When the session needs an owner: milliseconds since the epoch, 0: now, `null`: not before the next input. */
  readonly dueAt: number | null;
  /** When a sweep may erase the session by its `retention`: milliseconds since the epoch, 0: its erasure has begun, `null`: it is kept or under a hold. */
  readonly erasableAt: number | null;
  /** The parent that is to get the report of this session, if this is a child in the background that has ended. Otherwise `undefined`. */
  readonly reportsTo: string | undefined;
  /**
   * Records the end of a child in the background as an input of this session, or continues the call that rests for the child; does nothing if neither
   * applies. Resolves with the parent, if it may rest for this session: then call `collect` of the parent. @throws AgentError STORE_*
   */
  collect(child: string): Promise<string | undefined>;
  /** Writes the opening of a new session; false when it exists already. An input writes it, too. */
  open(): Promise<boolean>;
  /** Loads the state. @throws AgentError SESSION_CORRUPT, SESSION_AGENT_MISMATCH, STORE_* */
  ready(): Promise<AgentSession<Output>>;
  /**
   * Records the abort of a run, open or waiting to begin; false when there is none. Default: the open run, or else the first one that waits,
   * by the user of this handle. `inputKey`: the run of the input that was recorded under this idempotency key. `erases`: the session is about to be erased.
   * @throws AgentError SESSION_HELD with `erases`, under a legal hold
   */
  abort(
    reason?: string,
    options?: { readonly by?: string; readonly runId?: string; readonly inputKey?: string; readonly erases?: boolean },
  ): Promise<boolean>;
  /**
   * Records the decision on a call that is awaiting approval (see `pendingApprovals`). The run continues when no other call of its turn is pending. Resolves
   * when the decision is durable. @throws AgentError APPROVAL_DECIDED with the first decision in `details`, APPROVAL_MISMATCH, CALL_UNKNOWN, INPUT_INVALID,
   * KEY_REUSED, SESSION_CLOSED, FORBIDDEN
   */
  decide(callKey: string, decision: DecideOptions): Promise<AcceptedDecision & Followed<Output>>;
  /**
   * Records the output of a call that waits for a client (see `pendingToolCalls`): text, parts, or any value that has a JSON form. The run continues
   * when no other call of its turn is pending. Resolves when it is durable.
   * @throws AgentError CALL_ANSWERED, CALL_UNKNOWN, INPUT_INVALID, KEY_REUSED, SESSION_CLOSED, FORBIDDEN
   */
  answer(callKey: string, output: unknown, options?: AnswerOptions): Promise<AcceptedSubmission & Followed<Output>>;
  /**
   * Sets the schedule of this name, or changes it: the session gets the input at its due time, once over all nodes, as long as a worker or a handle
   * that is followed runs on its store. The `accept` hooks see the input now and not when it fires. A schedule does not fire while its last input waits.
   * The same request again changes nothing. Resolves when it is durable. @throws AgentError INPUT_INVALID, INPUT_REFUSED, HOOK_FAILED, FORBIDDEN, SESSION_CLOSED
   */
  schedule(name: string, request: ScheduleRequest): Promise<SessionSchedule>;
  /** Removes a schedule; false if there is none of this name. An input that it has already sent is not stopped. @throws AgentError SESSION_CLOSED */
  unschedule(name: string, options?: { readonly by?: string }): Promise<boolean>;
  /**
   * `retention.keepMs`: the session is erased that long after its last fact, by the sweep of a worker, unless it is under a hold; `{}` keeps it for ever,
   * which is the default. At least 1,000. `forget`: the keys of the calls whose decisions are no longer remembered. `sharing` replaces the earlier one.
   * @throws AgentError INPUT_INVALID, SESSION_CLOSED
   */
  change(change: {
    readonly title?: string;
    readonly metadata?: JsonObject;
    readonly retention?: Retention;
    readonly forget?: readonly string[];
    readonly sharing?: Sharing;
  }): Promise<void>;
  /** Puts the session under a legal hold: until it is lifted, nothing erases it. False if it was held for this reason. @throws AgentError INPUT_INVALID, SESSION_CLOSED */
  hold(options?: { readonly reason?: string; readonly by?: string }): Promise<boolean>;
  /** Lifts the legal hold; false if there was none. @throws AgentError SESSION_CLOSED */
  releaseHold(options?: { readonly by?: string }): Promise<boolean>;
  /** Chooses the branch that the next input continues. @throws AgentError INPUT_INVALID when no such message exists. */
  moveHead(to: MessageId | null): Promise<void>;
  /**
   * The durable events of one run as the log has them, after the cursor if there is one, in batches of the log's order; none for a run that the
   * log does not have. Reads the log from the input that brought the run to the end of the run, each time, and holds one batch of about 256 KiB.
   * Wait for `ready` first. @throws AgentError SESSION_CORRUPT, STORE_*, BLOB_NOT_FOUND
   */
  readRun(runId: string, options?: { readonly after?: EventCursor }): AsyncIterable<readonly DurableEvent[]>;
  /** Events of this session from now on, as this process sees them. */
  subscribe(listener: (events: readonly SessionEvent[]) => void): () => void;
  /**
   * Records an input, which is then answered with or without subscribers, also if the owner dies or the store fails for a while. A handle that does not drive
   * only records it. Resolves when it is durable. @throws AgentError as `execute`, and FORBIDDEN when the access is for another scope
   */
  submit(input: ExecuteInput | CheckedInput, options?: SubmitOptions): Promise<AcceptedSubmission>;
  /** Delivers all events from now on, of any process, and resumes a run whose owner is gone. Loads the state first. Returns a function that ends it. */
  follow(follower: SessionFollower): () => void;
  /** A snapshot of each open lane (of this run): for a reader that begins to watch now. */
  lanes(runId?: string): readonly EphemeralEvent[];
  /** The current state, for a screen. Empty until `ready`. */
  snapshot(): SessionSnapshot;
  /** While the store does not let this handle read: the state that was read last. Otherwise `undefined`. */
  staleSnapshot(): SessionSnapshot | undefined;
  /**
   * Ends the conversation for ever, for every handle and process: later inputs are refused with SESSION_CLOSED, and nothing opens it again. To let go of this
   * handle alone, dispose of it: `await using session = createSession(...)`. `erase` marks it for removal from its store by a sweep: `always`, or if its
   * retention has passed (`expired`; otherwise it stays open, and the result is false). `keepMs`: the retention of its scope; the earlier date counts.
   * @throws AgentError SESSION_HELD for `always`
   */
  end(options?: { readonly erase?: "always" | "expired"; readonly keepMs?: number }): Promise<boolean>;
  /**
   * Gives a run that is under way here to another node, and drives no more: the handle records and follows from then on. A model call is cut off and made
   * again there, which counts as no attempt; tools are signalled, what they return within half a second is recorded, and other calls are treated as after a
   * crash. Resolves when another node may claim the session.
   */
  handOver(): Promise<void>;
  /**
   * Claims at once a session whose owner has left. Without this call a handle that follows the session reads the lease once a second. No effect while another
   * process holds the lease, on a session that rests, and on a handle that does not drive.
   */
  takeOver(): void;
  /**
   * Lets go of the session without ending it, as `await using` does: running effects are signalled and left to the next owner, and the lease is released.
   * Streams and calls on this handle are rejected with RUN_ABORTED from then on.
   */
  [Symbol.asyncDispose](): Promise<void>;
}
