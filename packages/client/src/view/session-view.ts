import type {
  CallOutcome,
  CallState,
  Cost,
  ErrorCode,
  HookPoint,
  Json,
  JsonObject,
  Message,
  MessageId,
  PendingToolCall,
  ResultPart,
  RunStatus,
  SessionStatus,
  Timings,
  Usage,
  WaitingAgent,
  WaitingInput,
} from "@loopwright/core/protocol";

/** One message as a screen shows it. The same object as long as nothing about it changes. */
export interface ViewMessage {
  readonly id: MessageId;
  /** The message it continues; `null`: it begins a conversation. */
  readonly parent: MessageId | null;
  readonly runId?: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly message: Message;
  /** Of an answer, where it came while this view was watching. */
  readonly timings?: Timings;
  /** What hooks changed of it, where it came while this view was watching. */
  readonly verdicts?: readonly ViewVerdict[];
}

/** A step that a tool reports as progress. */
export interface ViewProgress {
  readonly id: string;
  readonly title: string;
  readonly icon?: string;
  readonly state: "open" | "done" | "failed";
}

/** A call of a tool: from the moment the model asked for it until it has its result. */
export interface ViewCall {
  readonly callKey: string;
  readonly toolCallId: string;
  readonly toolName: string;
  readonly label?: string;
  readonly args: JsonObject;
  readonly state: CallState;
  /** Lane of its events while it runs. */
  readonly lane?: number;
  /** Number of the last event of the lane that was applied. */
  readonly n?: number;
  readonly startedAt?: number;
  readonly durationMs?: number;
  /** When an answer or a decision is too late. */
  readonly deadline?: number;
  /** While it is awaiting approval: what a decision on it is to prove, and why a gate asks. */
  readonly approval?: { readonly argsDigest: string; readonly reason: string | undefined };
  /** What it has written so far, while it runs. */
  readonly written: string;
  readonly progress: readonly ViewProgress[];
  readonly outcome?: CallOutcome;
  readonly output?: readonly ResultPart[];
  readonly details?: Json;
  /** What hooks changed of it while this view was watching. */
  readonly verdicts?: readonly ViewVerdict[];
}

/** A part of an answer that is being written. `index`: its place in the answer; absent while the part is known from a snapshot only. */
export type ViewPart = (
  | { readonly type: "text"; readonly text: string; readonly ended: boolean }
  | { readonly type: "thinking"; readonly text: string; readonly ended: boolean }
  | { readonly type: "tool_call"; readonly toolName: string; readonly argsText: string; readonly ended: boolean }
) & { readonly index?: number };

/** The answer that is being written. A new object with each delta; everything else in the view stays the same then. */
export interface ViewAnswer {
  readonly lane: number;
  /** Number of the last event of the lane that was applied. */
  readonly n: number;
  readonly runId: string;
  /** The message it will continue. */
  readonly parent: MessageId | null;
  readonly startedAt: number;
  /** By index, in the order the model writes. */
  readonly parts: readonly ViewPart[];
}

/** What a hook of the application changed in a run. A snapshot holds none: a view has those of the events that it applied. */
export interface ViewVerdict {
  /** Name of the set of hooks. */
  readonly hook: string;
  readonly point: HookPoint;
  readonly action: string;
  readonly reason?: string;
  /** The call that it concerns. */
  readonly callKey?: string;
  /** The run that it belongs to. */
  readonly runId: string;
}

/** The run that is open. */
export interface ViewRun {
  readonly runId: string;
  readonly provider: string;
  readonly model: string;
  /** Turns begun. */
  readonly turn: number;
  readonly aborting?: string;
  readonly retry?: { readonly reason: string; readonly until?: number };
  readonly limit?: { readonly which: string; readonly value: number };
  /** The message that the next input continues, when the head was moved during the run. */
  readonly movedHead?: MessageId | null;
  /** Children that wait for people and clients, by session. Their calls are answered at this session. */
  readonly waitingAgents?: readonly WaitingAgent[];
  /** Why it is about to end. */
  readonly failure?: { readonly code: ErrorCode; readonly error: string };
}

/** How the last run ended. */
export interface ViewEnd {
  readonly runId: string;
  readonly status: RunStatus;
  readonly reason: string;
  readonly code?: ErrorCode;
  readonly error?: string;
}

/** What a screen shows of a session: a pure fold over its snapshot and the events that follow. */
export interface SessionView {
  readonly sessionId: string;
  readonly agent: string;
  readonly title?: string;
  readonly metadata?: JsonObject;
  readonly status: SessionStatus;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Place of the last durable event applied: what to resume after. */
  readonly cursor: string;
  /** Every message of every branch by id. Not to be changed; another map when a message is added. */
  readonly messages: ReadonlyMap<MessageId, ViewMessage>;
  /** Ids of the messages that continue a message, in the order they came; `null`: those that begin a conversation. */
  readonly children: ReadonlyMap<MessageId | null, readonly MessageId[]>;
  readonly head: MessageId | null;
  /** From the root to the head, results of one turn in call order. The same array until it changes. */
  readonly path: readonly ViewMessage[];
  /** By call key: those of the path's runs that this view has seen, and all of the open run. */
  readonly calls: ReadonlyMap<string, ViewCall>;
  readonly answer?: ViewAnswer;
  readonly run?: ViewRun;
  readonly lastRun?: ViewEnd;
  /** What hooks changed of a message that is still to come; then it moves to that message. */
  readonly verdicts?: readonly ViewVerdict[];
  readonly waiting: readonly WaitingInput[];
  readonly pendingToolCalls: readonly PendingToolCall[];
  readonly model?: string;
  readonly usage?: Usage;
  readonly cost?: Cost;
  readonly contextTokens?: number;
}
