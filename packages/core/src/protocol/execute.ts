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
import type { Access, InputMode, RunOptions } from "../loop/fact.ts";
import type { Json, JsonObject } from "../message/json.ts";
import type { Message, MessageId, StopReason, ToolResultMessage, UserMessage } from "../message/message.ts";
import type { Cost, Usage } from "../message/usage.ts";
import type { AcceptedDecision, DecideOptions } from "./approval.ts";
import type { EventCursor } from "./cursor.ts";
import type { SessionSnapshot } from "./snapshot.ts";

/**
 * What a run begins or goes on with: a user's words, the results of pending client calls, or `{ regenerate }`: the user
 * message to answer again, as a branch.
 */
export type ExecuteInput = string | UserMessage | readonly ToolResultMessage[] | { readonly regenerate: MessageId };

export interface ExecuteOptions extends RunOptions {
  /** What happens when a run is open. Default `enqueue`; `reject` throws SESSION_BUSY. */
  readonly mode?: InputMode | "reject";
  /** The message to continue (edit: the parent of the edited one; `null`: from the start). Default: the head. */
  readonly parent?: MessageId | null;
  /** Equal keys with equal input and options are accepted once; the same key with others is refused with KEY_REUSED. */
  readonly idempotencyKey?: string;
  /** Aborts the run of this input (not: stops watching). */
  readonly signal?: AbortSignal;
}

/** Like those of `execute`, of an input that nobody needs to wait for. */
export interface SubmitOptions extends Omit<ExecuteOptions, "signal"> {
  /** Who says it. Default: whom the session was opened for. */
  readonly access?: Access;
  /** What else came under the idempotency key: the same key with another value is refused. */
  readonly keyedContent?: Json;
}

/** An input that the log has. */
export interface AcceptedSubmission {
  /** The run that answers it. */
  readonly runId: string;
  /** Absent for results of calls. */
  readonly inputId?: string;
  /** The fact that holds it, or the first of them: the events of the run from there on answer it. */
  readonly seq: number;
  /** It was accepted before; nothing was recorded. */
  readonly replayed: boolean;
}

/** Who is told what happens in a session. Must not throw. */
export interface SessionFollower {
  /** All of one run, or of none; durable and ephemeral, in order. The array is not to be kept. */
  events(events: readonly SessionEvent[], runId: string | undefined): void;
  /** Nothing moves by itself any more; may be told again. */
  rested?(): void;
  /**
   * The last that is told: the store is lost (follow again to go on), the session was removed (SESSION_CLOSED), or the handle was let go.
   */
  lost?(error: AgentError): void;
}

export interface ExecuteResult {
  readonly status: ExecuteStatus;
  /** Messages that this execution added, oldest first. */
  readonly messages: readonly Message[];
  /** The text of the last assistant message. */
  readonly text: string;
  /** Why the last model call ended. */
  readonly finishReason?: StopReason;
  readonly pendingToolCalls?: readonly PendingToolCall[];
  /** Calls that wait for a person's leave: `session.decide`. */
  readonly pendingApprovals?: readonly PendingApproval[];
  /** Of this execution. */
  readonly usage?: Usage;
  readonly cost?: Cost;
  /** Set when a limit ended the run or took its tools away. */
  readonly limit?: { readonly which: "turns" | "toolCalls"; readonly value: number };
  /** Set when the status is `error` or `aborted`. */
  readonly error?: AgentError;
  readonly runId?: string;
}

/**
 * One execution, begun at once and independent of its reader. Iterate it (once) for the events, ask `result` for the end, or both.
 * A reader slower than 1 MiB of events gets a snapshot in place of the deltas it missed.
 */
export interface ExecuteStream extends AsyncIterable<AgentEvent> {
  readonly sessionId: string;
  /** Resolves with a status whatever the run does. @throws AgentError STORE_* when the store is lost, SESSION_* and INPUT_INVALID when the input could not be accepted. */
  result(): Promise<ExecuteResult>;
  /** Stops the run and keeps the partial text. Resolves when the abort is recorded. */
  abort(reason?: string): Promise<void>;
}

/** How a session stands, in the words of the session API. */
export type SessionStatus = "running" | "awaiting_tool_execution" | "completed" | "error";

/** A handle on one session. Made at once; its state loads on first use. */
export interface AgentSession {
  readonly id: string;
  /** `completed` before anything was said. */
  readonly status: SessionStatus;
  readonly title: string | undefined;
  /** Used last. */
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
  /** Calls that wait for a person's leave. */
  readonly pendingApprovals: readonly PendingApproval[];
  /** True when a run is open that nobody has to wait for: `resume` goes on with it. */
  readonly isInterrupted: boolean;
  /** Number of the last fact that this handle has seen; 0 for a new session, and until `ready`. */
  readonly lastSeq: number;
  /** Cursor of the last durable event that this handle has seen or read past, `0.0` before the first; `undefined` where it is not known, and until `ready`. */
  readonly lastEvent: EventCursor | undefined;
  /** The open run. */
  readonly runId: string | undefined;
  /** True when nothing moves the session by itself: no run is open, it waits for somebody outside, or it can only be read here. */
  readonly isResting: boolean;
  /**
   * True when a newer version has gone on with the session: everything up to its first fact can be read, and whatever would record something
   * is refused with SESSION_TOO_NEW.
   */
  readonly isReadOnly: boolean;
  /** True while this handle holds the lease: what runs, runs here. */
  readonly isOwner: boolean;
  /** When the session needs an owner: milliseconds since the epoch, 0: now, `null`: not before somebody says something. */
  readonly dueAt: number | null;
  /** Writes the opening of a new session; false when it exists already. An input does so by itself. */
  open(): Promise<boolean>;
  /** Loads the state. @throws AgentError SESSION_CORRUPT, SESSION_AGENT_MISMATCH, STORE_* */
  ready(): Promise<AgentSession>;
  /**
   * Records the abort of a run, open or waiting to begin; false when there is none. Default: the open run, or else the first one that waits,
   * by the user of this handle.
   */
  abort(reason?: string, options?: { readonly by?: string; readonly runId?: string }): Promise<boolean>;
  /**
   * Records what a person says of a call that waits for leave, and has the run go on once nothing else of it is waited for: see
   * `pendingApprovals`. Resolves when it is durable. @throws AgentError APPROVAL_DECIDED with the first decision in `details`,
   * APPROVAL_MISMATCH, CALL_UNKNOWN, INPUT_INVALID, KEY_REUSED, SESSION_CLOSED, FORBIDDEN
   */
  decide(callKey: string, decision: DecideOptions): Promise<AcceptedDecision>;
  change(change: { readonly title?: string; readonly metadata?: JsonObject }): Promise<void>;
  /** Chooses the branch that the next input continues. @throws AgentError INPUT_INVALID when no such message exists. */
  moveHead(to: MessageId | null): Promise<void>;
  /**
   * The durable events of one run as the log has them, after a cursor where there is one, in batches of the log's order; none for a run that the
   * log does not have. Reads the log from the input that brought the run to the end of the run, each time, and holds one batch of about 256 KiB.
   * Wait for `ready` first. @throws AgentError SESSION_CORRUPT, STORE_*, BLOB_NOT_FOUND
   */
  readRun(runId: string, options?: { readonly after?: EventCursor }): AsyncIterable<readonly DurableEvent[]>;
  /** Events of this session from now on, as this process sees them. */
  subscribe(listener: (events: readonly SessionEvent[]) => void): () => void;
  /**
   * Records an input and has it answered, whether or not anybody watches: also when its owner dies or the store fails for a while. A handle
   * that does not drive records it only. Resolves when it is durable. @throws AgentError as `execute`, and FORBIDDEN when the access is for another scope
   */
  submit(input: ExecuteInput, options?: SubmitOptions): Promise<AcceptedSubmission>;
  /**
   * Tells everything that happens from now on, whoever does it, and goes on with a run that its owner has left behind. Loads the state
   * first; `ready` tells when. Ends with the function it gives.
   */
  follow(follower: SessionFollower): () => void;
  /** What each open lane (of this run) has said so far: for whoever begins to watch now. */
  lanes(runId?: string): readonly EphemeralEvent[];
  /** The state of now, for a screen. Empty until `ready`. */
  snapshot(): SessionSnapshot;
  /** While the store does not let this handle read: the state that was read last. Otherwise `undefined`. */
  staleSnapshot(): SessionSnapshot | undefined;
  /**
   * Ends the conversation for ever, for every handle and process: later inputs are refused with SESSION_CLOSED, and nothing opens it again. To
   * let go of this handle alone, dispose of it: `await using session = createSession(...)`.
   */
  end(): Promise<void>;
  /**
   * Gives a run that is under way here to another node, and drives no more: the handle records and follows from then on. A model call is cut off
   * and made again there, which counts as no attempt; tools are signalled, what they give within half a second is recorded, and the rest is
   * treated as after a crash. Resolves when another may claim the session.
   */
  handOver(): Promise<void>;
  /**
   * Lets go of the session without ending it, as `await using` does: what runs is signalled and left to the next owner, the lease goes back. Streams and calls
   * on this handle are rejected with RUN_ABORTED from then on.
   */
  [Symbol.asyncDispose](): Promise<void>;
}
