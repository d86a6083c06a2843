import type { CallOutcome, KeyOwner, StopReason, Usage } from "@loopwright/core";

/** One tool call of a turn. */
export interface ToolTiming {
  readonly name: string;
  /** `client`: the caller ran it. Its time includes the way there and back, and the person, if it asks one. */
  readonly side: "server" | "client";
  readonly durationMs: number;
  readonly outcome: CallOutcome;
}

/** How long one turn took: one model call that was kept, and the tool calls that it asked for. */
export interface LatencyRecord {
  readonly scope: string;
  /** The run. */
  readonly taskId: string;
  /** The session. */
  readonly conversationId: string;
  /** Counted from 1 in each run. */
  readonly turnNumber: number;
  readonly providerName: string;
  readonly providerModel: string;
  /** Whose key was used. Absent: that of the platform. */
  readonly keyOwner?: KeyOwner;
  /** When the turn was over: the answer, and its tools. Milliseconds since the epoch. */
  readonly at: number;
  /** Until the first bytes of the vendor's answer. Only where the provider is watched by `cacheWatch`. */
  readonly firstByteMs?: number;
  /** Until the first piece of the answer that was kept, from the first attempt on. Absent for a call that was not streamed. */
  readonly ttftMs?: number;
  /** From the first attempt to the end of the answer. The time of its tools is in `toolCalls`. */
  readonly turnDurationMs: number;
  readonly attempts: number;
  /** In the order in which they ended. Calls that were never run have none. */
  readonly toolCalls: readonly ToolTiming[];
  readonly stopReason: StopReason;
  readonly usage?: Usage;
}

/** The stream of latency records. */
export const latencyStream = "_platform.ai.latency";
