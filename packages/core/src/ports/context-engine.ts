import type { Access, Labels } from "../loop/fact.ts";
import type { Message, MessageId } from "../message/message.ts";
import type { Usage } from "../message/usage.ts";
import type { Logger } from "./logger.ts";
import type { ModelProvider, ModelRequest } from "./model-provider.ts";

/** The sizes of the parts of a request, in quarters of a token: about one character each. */
export interface MessageSizes {
  sizeOf(message: Message): number;
  /** The sum over a list that only grows. Only new messages are counted. */
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
  /** Counted from 1. */
  readonly attempt: number;
  readonly access: Access;
  readonly labels: Labels;
  /** The provider of the model that is called. */
  readonly provider: ModelProvider;
  /** The request without its messages. */
  readonly request: Omit<ModelRequest, "messages">;
  readonly history: ContextHistory;
  /** Messages in front of the history, for this call alone, valid for every vendor. The engine counts them, and may leave some out. */
  readonly examples: readonly Message[];
  /** Messages behind the history, and text in front of its last input, for this call alone. The engine counts them. */
  readonly behind: readonly Message[];
  /** The sizes by the session's `TokenCounter`. `undefined`: the session has none. */
  readonly sizes: MessageSizes | undefined;
  /** The number of the last compaction in the log: answers with a lower id were given to a longer history than this one. Absent: nothing was compacted. */
  readonly compactedAt?: number;
  /** True if the vendor refused the previous attempt with CONTEXT_OVERFLOW. This happens at most once per turn. */
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
  /** The model that wrote the summary, and what it reported. Absent: no model was called, or it reported nothing. */
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

/** The reservation of a call of the engine. Unless it is settled, all of it stays spent, in the ledger and in the sums of the run. */
export interface ContextReservation {
  settle(usage: Usage): void;
}

export interface ContextPreparing {
  /** Aborted with the run. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
  /**
   * Called before a model call of the engine: reserves in the usage ledger, if any, and records that the call begins. `undefined`: the
   * call must not be made.
   */
  readonly reserve?: (spending: ContextSpending) => Promise<ContextReservation | undefined>;
}

/** The parts of a request that the engine replaces. Absent parts do not change. */
export interface FittedRequest extends Partial<Pick<ModelRequest, "system" | "tools">> {
  /** Valid for every vendor, like the messages that were given. */
  readonly messages: readonly Message[];
  readonly examples?: readonly Message[];
}

/** The context of one session in one process. Another process makes its own from the same log. */
export interface SessionContext {
  /**
   * Called before the model call is recorded. Inputs that arrive meanwhile are recorded as usual, and are in the history that `fit` gets. Synchronous if no
   * model is called. An error fails the model call.
   */
  prepare?(call: ContextCall, io: ContextPreparing): ContextPreparation | undefined | Promise<ContextPreparation | undefined>;
  /**
   * Called right before a request is sent; returns the request to send. `undefined`: it cannot fit, and the model call fails with CONTEXT_OVERFLOW.
   * Synchronous, because nothing may join the request afterwards. An error fails the model call.
   */
  fit(call: ContextCall): FittedRequest | undefined;
}

/**
 * Fits requests into the window of the model, before every model call, also in tool loops. An option of an agent: `contextEngine()` of `@loopwright/context`.
 */
export interface ContextEngine {
  /** Called once for each session in a process, and for a conversation that a `prepare` hook chose for one call. */
  open(): SessionContext;
  /** Makes the next model call of the session here compact the history first, even if there is room. Absent: only the engine decides when. */
  compact?(sessionId: string): void;
}
