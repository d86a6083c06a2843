import type { Json, JsonObject } from "../../message/json.ts";
import type { Message, MessageId, UserMessage } from "../../message/message.ts";
import type { Access, BranchPoint, DeclaredTool, InputOrigin, Labels, ParentLink, Retention, RunOptions } from "./parties.ts";
import type { Hooked, Spending } from "./spending.ts";

/** What an input does while a run is open: a run of its own after all others, joins before the next model call, or aborts the open run and comes next. */
export type InputMode = "enqueue" | "steer" | "interrupt";

/** The input that a schedule makes each time it is due. */
export interface ScheduledInput {
  readonly message: UserMessage;
  /** Default `enqueue`. */
  readonly mode?: "enqueue" | "interrupt";
  readonly access?: Access;
  readonly options?: RunOptions;
  readonly labels?: Labels;
}

/** Facts of a session and of the inputs that it gets. */
export type SessionFact =
  | {
      readonly type: "session.opened";
      readonly agent: string;
      readonly title?: string;
      readonly participants?: readonly string[];
      readonly context?: readonly Message[];
      /** Client tools that this session has beside its agent's. */
      readonly tools?: readonly DeclaredTool[];
      /** In place of the agent's own prompt. */
      readonly prompt?: string;
      readonly metadata?: JsonObject;
      readonly parent?: ParentLink;
      /** Names the key that the content of this log is encrypted with. Never the key. */
      readonly keyId?: string;
      /** The agent's data policy: what of the content is kept. Read by the package that applies it. */
      readonly policy?: JsonObject;
    }
  | { readonly type: "session.changed"; readonly title?: string; readonly metadata?: JsonObject; readonly retention?: Retention }
  | ({
      readonly type: "input.accepted";
      readonly inputId: string;
      readonly runId: string;
      /** Absent: answer the message `parent` again. */
      readonly message?: UserMessage;
      /** The run of an `interrupt` comes before those of the inputs that wait. */
      readonly mode: InputMode;
      /** Only of version 1, whose first builds queued an `interrupt` behind all others. Later versions never write it. */
      readonly jumps?: false;
      /** The message it continues. Default: the head when the run starts. `null`: the root. */
      readonly parent?: BranchPoint;
      readonly idempotencyKey?: string;
      /** Of what the key came with beside message and parent: the mode as asked for, the options, and what the caller adds. */
      readonly keyedDigest?: string;
      readonly access?: Access;
      readonly options?: RunOptions;
      /** What callers may add to an input: labels whose names the deployment has declared. */
      readonly labels?: Labels;
      /** Absent: a user sent it. */
      readonly origin?: InputOrigin;
      /** The `traceparent` (W3C Trace Context) of the request that brought it. */
      readonly trace?: string;
      /** The answer that an `accept` hook gave: the run ends with it, without a model call. */
      readonly answer?: string;
      /** Digest of the message as it came, where an `accept` hook edited it. */
      readonly givenDigest?: string;
    } & Hooked &
      Pick<Spending, "expenses">)
  | { readonly type: "head.moved"; readonly to: BranchPoint }
  | { readonly type: "owner.claimed"; readonly node: string; readonly leaseMs: number }
  | ({
      readonly type: "context.compacted";
      /** The first and the last message of the path that the summary stands for. */
      readonly from: MessageId;
      readonly to: MessageId;
      readonly summary: string;
      /** The run that needed the room. */
      readonly runId?: string;
      /** The last message of the path that was compacted. */
      readonly path?: MessageId;
      /** Messages between `from` and `to` that are kept as they are. */
      readonly pinned?: readonly MessageId[];
      /** The model that wrote the summary. */
      readonly model?: string;
      readonly tokensBefore?: number;
      readonly tokensAfter?: number;
    } & Spending)
  | {
      /** A schedule is new, or is due at another date. */
      readonly type: "schedule.set";
      /** `[a-z0-9][a-z0-9_-]{0,63}`, unique in the session. */
      readonly schedule: string;
      /** Milliseconds since the epoch: when it is due next. */
      readonly due: number;
      readonly input: ScheduledInput;
      /** After a firing it is due again, so many milliseconds after `due`. Absent: it fires once. */
      readonly everyMs?: number;
      /** The rule that its package computes later dates from, for example a cron expression with its time zone. Never read by the loop. */
      readonly rule?: string;
      readonly by?: string;
    }
  | { readonly type: "schedule.cleared"; readonly schedule: string; readonly by?: string }
  /** A legal hold on the session: as long as it is held, it is not erased. */
  | { readonly type: "hold.changed"; readonly held: boolean; readonly reason?: string; readonly by?: string }
  | {
      /** What a package records for itself. Changes no state; erased with the session. */
      readonly type: "note.recorded";
      /** `<package>.<name>`. */
      readonly kind: string;
      /** At most 16 KiB of JSON. */
      readonly data: Json;
      readonly runId?: string;
      readonly callKey?: string;
    }
  | { readonly type: "session.closed" };
