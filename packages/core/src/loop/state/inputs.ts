import type { JsonObject } from "../../message/json.ts";
import type { MessageId, UserMessage } from "../../message/message.ts";
import type { Cost, Usage } from "../../message/usage.ts";
import type { Access, ApprovalVerdict, HookState, Labels, RunOptions, ScheduledInput } from "../fact.ts";

export interface Abort {
  readonly reason: string;
  readonly by?: string;
  readonly at: number;
}

/** A waiting input: for a run of its own, or for joining the open one. */
export interface QueuedInput {
  readonly seq: number;
  readonly inputId: string;
  readonly runId: string;
  /** True if it comes before the inputs without this mark. */
  readonly jumps?: true;
  /** True if it shares the run of an input before it. */
  readonly shares?: true;
  readonly message?: UserMessage;
  readonly parent?: MessageId | null;
  readonly access?: Access;
  readonly options?: RunOptions;
  readonly labels?: Labels;
  readonly trace?: string;
  /** The state that hooks keep for its run. */
  readonly hookState?: HookState;
  /** The answer of a hook, in place of a model call. */
  readonly answer?: string;
  /** The usage of hooks for it, a part of the usage of its run. */
  readonly spent?: { readonly usage?: Usage; readonly cost?: Cost };
  /** The schedule that fired it. */
  readonly schedule?: string;
  /** How many runs in a row, its own included, reports of children have started. */
  readonly round?: number;
  /** The part of `spent` that was promised from the budget of an earlier run. */
  readonly prepaid?: QueuedInput["spent"];
  /** True if its run was stopped before it began: it ends as soon as it starts. */
  readonly abort?: Abort;
}

/** An accepted input, kept so that neither it nor its key is accepted twice. */
export interface KnownInput {
  readonly key?: string;
  /** Absent for an input of a build without digests. */
  readonly keyedDigest?: string;
  readonly inputId: string;
  readonly runId: string;
  readonly seq: number;
  readonly message?: UserMessage;
  readonly parent?: MessageId | null;
  /** The digest of the original message, if a hook edited it. */
  readonly givenDigest?: string;
}

/** A recorded decision, kept so that no call is decided twice and a repetition finds the first one. */
export interface KnownDecision {
  readonly callKey: string;
  readonly runId: string;
  readonly seq: number;
  readonly at: number;
  readonly decision: ApprovalVerdict;
  readonly key?: string;
  readonly argsDigest?: string;
  readonly by?: string;
  readonly args?: JsonObject;
  readonly note?: string;
  /** Of a decision that is remembered. */
  readonly pattern?: JsonObject;
}

/** A schedule of the session. */
export interface Schedule {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly due: number;
  readonly input: ScheduledInput;
  readonly everyMs?: number;
  readonly rule?: string;
  readonly timeZone?: string;
  readonly missed?: "once" | "skip";
}

/** A due date of a schedule that has passed. */
export interface Firing {
  readonly schedule: string;
  readonly due: number;
  /** When it fired, or was left out. */
  readonly at: number;
  /** Absent: it was left out. */
  readonly runId?: string;
}
