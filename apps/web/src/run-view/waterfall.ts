import type { Cost, ErrorCode, RunStatus, Usage } from "@loopwright/core/protocol";

/** One bar: something that took time in a run. */
export interface WaterfallBar {
  readonly key: string;
  readonly kind: "queue" | "turn" | "model" | "wait" | "tool" | "client" | "approval";
  /** What a person reads: the model, the tool, the reason of a wait. */
  readonly label: string;
  /** 0: of the run, 1: of a turn. */
  readonly depth: 0 | 1;
  /** Milliseconds since the run's beginning. */
  readonly startMs: number;
  /** Absent while it is open. */
  readonly endMs?: number;
  readonly state: "open" | "ok" | "failed" | "aborted";
  /** Which try it was, where there were several. */
  readonly attempt?: number;
  /** Of a model call: until its first token, from its start. */
  readonly firstTokenMs?: number;
  readonly usage?: Usage;
  readonly cost?: Cost;
  /** Why it failed, what a wait waits for. */
  readonly note?: string;
}

/** A moment of a run that took no time. */
export interface WaterfallMark {
  readonly key: string;
  readonly atMs: number;
  readonly label: string;
}

/** What happened in a run, along its time. */
export interface Waterfall {
  readonly runId: string;
  readonly model?: string;
  readonly provider?: string;
  /** Milliseconds since the epoch: when its input was accepted, or the first event there is. */
  readonly startedAt: number;
  /** From the beginning to the end, or to the last event there is. */
  readonly totalMs: number;
  /** `open`: it has not ended. */
  readonly status: RunStatus | "open";
  readonly reason?: string;
  readonly error?: { readonly code: ErrorCode; readonly message: string };
  readonly bars: readonly WaterfallBar[];
  readonly marks: readonly WaterfallMark[];
  readonly usage?: Usage;
  readonly cost?: Cost;
}
