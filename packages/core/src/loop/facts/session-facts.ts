import type { Json, JsonObject } from "../../message/json.ts";
import type { Message, MessageId, UserMessage } from "../../message/message.ts";
import type { Access, Labels, Sharing } from "./access.ts";
import type { Verdict } from "./hook-verdicts.ts";
import type { InputOrigin, ParentLink } from "./origins.ts";
import type { RunOptions } from "./run-options.ts";
import type { Hooked, Spending } from "./spending.ts";
import type { DeclaredTool } from "./tool-policy.ts";

/** How long a session is kept after its last fact. */
export interface Retention {
  /** In milliseconds. Absent: for ever. */
  readonly keepMs?: number;
}

/** The end of a branch, or its beginning; `null`: before the first message. */
type BranchPoint = MessageId | null;

/**
 * The effect of an input on an open run. `enqueue`: gets its own run, after all others. `steer`: joins the open run before the next model call. `interrupt`:
 * aborts the open run and is next. `merge`: shares the run of the last waiting input.
 */
export type InputMode = "enqueue" | "steer" | "interrupt" | "merge";

/** The input that a schedule adds each time it is due. */
export interface ScheduledInput {
  readonly message: UserMessage;
  /** Default `enqueue`. */
  readonly mode?: "enqueue" | "interrupt";
  readonly access?: Access;
  readonly options?: RunOptions;
  readonly labels?: Labels;
  /** The answer of an `accept` hook, in place of a model call. */
  readonly answer?: string;
  /** What `accept` hooks changed when the schedule was set. */
  readonly verdicts?: readonly Verdict[];
}

/** Facts of a session and of the inputs that it gets. */
export type SessionFact =
  | {
      readonly type: "session.opened";
      readonly agent: string;
      readonly title?: string;
      readonly participants?: readonly string[];
      readonly context?: readonly Message[];
      /** The client tools of this session, in addition to those of its agent. */
      readonly tools?: readonly DeclaredTool[];
      /** The prompt that replaces the agent's own. */
      readonly prompt?: string;
      readonly metadata?: JsonObject;
      readonly parent?: ParentLink;
      /** Names the key that the content of this log is encrypted with. Never the key. */
      readonly keyId?: string;
      /** The agent's data policy: which content is kept. Read by the package that applies it. */
      readonly policy?: JsonObject;
    }
  | {
      readonly type: "session.changed";
      readonly title?: string;
      readonly metadata?: JsonObject;
      readonly retention?: Retention;
      /** Decisions that are no longer remembered, by the key of their call. */
      readonly forget?: readonly string[];
      readonly sharing?: Sharing;
    }
  | ({
      readonly type: "input.accepted";
      readonly inputId: string;
      readonly runId: string;
      /** The user's message. Absent: answer the message `parent` again. */
      readonly message?: UserMessage;
      /** The run of an `interrupt` comes before those of the inputs that wait. */
      readonly mode: InputMode;
      /** Only in logs of version 1, whose first builds queued an `interrupt` behind all other inputs. Later versions never write it. */
      readonly jumps?: false;
      /** The message that the input continues. Default: the head when the run starts. `null`: the root. */
      readonly parent?: BranchPoint;
      readonly idempotencyKey?: string;
      /** Digest of the content under the key other than message and parent: the requested mode, the options, and additions of the caller. */
      readonly keyedDigest?: string;
      readonly access?: Access;
      readonly options?: RunOptions;
      /** Labels of the caller, with names that the deployment has declared. */
      readonly labels?: Labels;
      /** The origin of the input. Absent: a user sent it. */
      readonly origin?: InputOrigin;
      /** The `traceparent` (W3C Trace Context) of the request that sent it. */
      readonly trace?: string;
      /** The answer of an `accept` hook: the run ends with it, without a model call. */
      readonly answer?: string;
      /** Digest of the original message, if an `accept` hook edited it. */
      readonly givenDigest?: string;
    } & Hooked &
      Pick<Spending, "expenses">)
  | { readonly type: "head.moved"; readonly to: BranchPoint }
  | { readonly type: "owner.claimed"; readonly node: string; readonly leaseMs: number }
  | ({
      readonly type: "context.compacted";
      /** The first and the last message of the path that the summary replaces. */
      readonly from: MessageId;
      readonly to: MessageId;
      readonly summary: string;
      /** The run whose request was too long. */
      readonly runId?: string;
      /** The last message of the path that was compacted. */
      readonly path?: MessageId;
      /** Messages between `from` and `to` that are kept unchanged. */
      readonly pinned?: readonly MessageId[];
      /** The model that wrote the summary. */
      readonly model?: string;
      readonly tokensBefore?: number;
      readonly tokensAfter?: number;
    } & Spending)
  | {
      /** The context engine calls a model for a summary. `context.compacted` or `summary.failed` ends the call. */
      readonly type: "summary.started";
      readonly runId: string;
      readonly provider: string;
      readonly model: string;
      /** The most that the call may spend, at the prices when it began. Counted if its process dies. */
      readonly expected: Pick<Spending, "usage" | "cost">;
      /** Id of the reservation in the usage ledger. */
      readonly reservation?: string;
    }
  | ({
      /** The call gave no usable summary, or its outcome is unknown. */
      readonly type: "summary.failed";
      readonly runId: string;
      readonly provider: string;
      readonly model: string;
    } & Spending)
  | {
      /** A schedule was created, or its date was changed. */
      readonly type: "schedule.set";
      /** `[a-z0-9][a-z0-9_-]{0,63}`, unique in the session. */
      readonly schedule: string;
      /** The next due date, in milliseconds since the epoch. */
      readonly due: number;
      readonly input: ScheduledInput;
      /** The milliseconds between two due dates. Absent, and no `rule`: the schedule fires once. */
      readonly everyMs?: number;
      /** The rule from which later dates are computed, for example a cron expression. Never read by the loop: the fact of each firing has the next date. */
      readonly rule?: string;
      /** The zone of the rule. Default UTC. */
      readonly timeZone?: string;
      /** Dates that no process could fire in time fire `once` together, or are left out. Absent in older builds: `once`, and no history is kept. */
      readonly missed?: "once" | "skip";
      /** The runtime left out this due date and set the next one. */
      readonly skips?: number;
      readonly by?: string;
    }
  | { readonly type: "schedule.cleared"; readonly schedule: string; readonly by?: string }
  /** A legal hold on the session: while it is held, the session is not erased. */
  | { readonly type: "hold.changed"; readonly held: boolean; readonly reason?: string; readonly by?: string }
  | {
      /** A record of a package for itself. Changes no state; erased with the session. */
      readonly type: "note.recorded";
      /** `<package>.<name>`. */
      readonly kind: string;
      /** At most 16 KiB of JSON. */
      readonly data: Json;
      readonly runId?: string;
      readonly callKey?: string;
    }
  | {
      readonly type: "session.closed";
      /** The session is being erased: a sweep removes its log, if the process that closed it does not. */
      readonly erase?: true;
    };
