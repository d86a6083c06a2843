import type { Access, Labels } from "../loop/fact.ts";
import type { Message, MessageId } from "../message/message.ts";
import type { Usage } from "../message/usage.ts";
import type { Logger } from "./logger.ts";
import type { ModelProvider, ModelRequest } from "./model-provider.ts";

/** The sizes of the parts of a request, in quarters of a token: about one character each. */
export interface MessageSizes {
  sizeOf(message: Message): number;
  /** The sum over a list that only grows. The cost is the number of new messages. */
  sizeOfAll(messages: readonly Message[]): number;
  /** The size of the request beside the messages. */
  sizeBeside(request: Pick<ModelRequest, "system" | "tools" | "output">): number;
}

/** The conversation of a model call, valid for every vendor (see `ModelRequest`), with compacted stretches replaced by their summaries. */
export interface ContextHistory {
  /** One list that grows in place. It is another list when anything but its end has changed. */
  readonly messages: readonly Message[];
  /** The id of each message. `undefined`: the message was made up to keep the history valid. */
  readonly ids: readonly (MessageId | undefined)[];
}

/** A model call whose request is fitted into the window of its model. */
export interface ContextCall {
  readonly sessionId: string;
  readonly runId: string;
  readonly turn: number;
  /** From 1. */
  readonly attempt: number;
  readonly access: Access;
  readonly labels: Labels;
  /** Of the model that is called. */
  readonly provider: ModelProvider;
  /** The request without its messages. */
  readonly request: Omit<ModelRequest, "messages">;
  readonly history: ContextHistory;
  /** As the session's `TokenCounter` counts. `undefined`: it has none. */
  readonly sizes: MessageSizes | undefined;
  /** The number of the last compaction in the log: answers with a lower id were given to a longer history than this one. Absent: nothing was compacted. */
  readonly compactedAt?: number;
  /** The vendor refused the attempt before with CONTEXT_OVERFLOW. There is one such attempt in a turn at most. */
  readonly overflowed: boolean;
}

/** A stretch of the history, and the summary that takes its place in requests from now on. The log keeps the messages. */
export interface ContextCompaction {
  /** Ids of the history. `from` may be the id of an earlier summary. */
  readonly from: MessageId;
  readonly to: MessageId;
  readonly summary: string;
  /** Messages of the stretch that are kept unchanged, after the summary. */
  readonly pinned?: readonly MessageId[];
  /** The model that wrote the summary, and what it reported. Absent: no model was called, or it did not report it. */
  readonly provider?: string;
  readonly model?: string;
  readonly usage?: Usage;
  /** Estimates of the request, before and after. */
  readonly tokensBefore?: number;
  readonly tokensAfter?: number;
}

/** What the engine has done for a call. */
export interface ContextPreparation {
  /** Recorded as `context.compacted` before the call. */
  readonly compaction?: ContextCompaction;
  /** Published and recorded as verdicts of `context`, for the user to read. */
  readonly notes?: readonly { readonly action: string; readonly reason: string }[];
}

/** A model call that the engine is about to make by itself. */
export interface ContextSpending {
  readonly provider: string;
  readonly model: string;
  /** The most that it may spend. */
  readonly usage: Usage;
}

/** The reservation of such a call. Unless it is settled, all of it stays spent, in the ledger and in the sums of the run. */
export interface ContextReservation {
  settle(usage: Usage): void;
}

export interface ContextPreparing {
  /** Aborted with the run. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
  /**
   * Asked before a model call of the engine: reserves it where there is a usage ledger, and records that it begins. `undefined`: the call must not be made.
   */
  readonly reserve?: (spending: ContextSpending) => Promise<ContextReservation | undefined>;
}

/** What takes the place of parts of a request. What is absent stays. */
export interface FittedRequest extends Partial<Pick<ModelRequest, "system" | "tools">> {
  /** Valid for every vendor, as the given ones are. */
  readonly messages: readonly Message[];
}

/** The context of one session in one process. Another process makes its own from the same log. */
export interface SessionContext {
  /**
   * Before the call is recorded; inputs that arrive meanwhile are recorded as ever, and are in the history that `fit` is given. Synchronous where no
   * model is asked. What it throws fails the model call.
   */
  prepare?(call: ContextCall, io: ContextPreparing): ContextPreparation | undefined | Promise<ContextPreparation | undefined>;
  /**
   * Right before a request is sent: what is sent of it. `undefined`: it cannot fit, and the model call fails with CONTEXT_OVERFLOW. Synchronous, because
   * nothing may join the request after it. What it throws fails the model call.
   */
  fit(call: ContextCall): FittedRequest | undefined;
}

/** Fits what a model is sent into its window, before every model call, also in tool loops. An option of an agent: `contextEngine()` of `@loopwright/context`. */
export interface ContextEngine {
  /** Called once for each session in a process, and for a conversation that a `prepare` hook chose for one call. */
  open(): SessionContext;
  /** The next model call of the session in this process compacts its history first, however much room there is. Absent: the engine compacts by itself alone. */
  compact?(sessionId: string): void;
}
