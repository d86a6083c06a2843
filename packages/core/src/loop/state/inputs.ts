import type { JsonObject } from "../../message/json.ts";
import type { MessageId, UserMessage } from "../../message/message.ts";
import type { Cost, Usage } from "../../message/usage.ts";
import type { Access, ApprovalVerdict, HookState, Labels, RunOptions, ScheduledInput } from "../fact.ts";

export interface Abort {
  readonly reason: string;
  readonly by?: string;
  readonly at: number;
}

/** An input that waits for its own run, or waits to join the open run. */
export interface QueuedInput {
  readonly seq: number;
  readonly inputId: string;
  readonly runId: string;
  /** True if the input comes before the inputs without this mark. */
  readonly jumps?: true;
  /** True if the input shares the run of an earlier input. */
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
  /** The usage of hooks for the input, a part of the usage of the run. */
  readonly spent?: { readonly usage?: Usage; readonly cost?: Cost };
  /** The schedule that created the input. */
  readonly schedule?: string;
  /** The number of consecutive runs that reports of children have started, up to that of this input. */
  readonly round?: number;
  /** The part of `spent` that an earlier run has reserved in its budget. */
  readonly prepaid?: QueuedInput["spent"];
  /** Present if the run was stopped before it began: the run then ends as soon as it starts. */
  readonly abort?: Abort;
}

/** An accepted input. It is kept so that no id and no key is accepted twice. */
export interface KnownInput {
  readonly key?: string;
  /** Absent: an older build without digests recorded the input. */
  readonly keyedDigest?: string;
  readonly inputId: string;
  readonly runId: string;
  readonly seq: number;
  readonly message?: UserMessage;
  readonly parent?: MessageId | null;
  /** The digest of the original message, if a hook edited it. */
  readonly givenDigest?: string;
}

/** A recorded decision, kept so that no call is decided twice and a repeated request finds the first decision. */
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
  /** Present if the decision is remembered. */
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

/** A past due date of a schedule. */
export interface Firing {
  readonly schedule: string;
  readonly due: number;
  /** When the date fired or was left out. */
  readonly at: number;
  /** Absent: the date was left out. */
  readonly runId?: string;
}
