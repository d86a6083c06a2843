import type { Failure } from "../errors.ts";
import type { ResultPart } from "../message/content.ts";
import type { Json, JsonObject, JsonSchema } from "../message/json.ts";
import type { AssistantMessage, CallOutcome, Message, MessageId, StopReason, UserMessage } from "../message/message.ts";
import type { Cost, Usage } from "../message/usage.ts";
import type { CallRoute, RunLimits, ToolPolicies, ToolPolicy } from "./policy.ts";

/** Version of the facts that this build writes, and the newest that it folds. */
export const factVersion = 1;

/** Who acts, as authentication established it. */
export interface Access {
  readonly user: string;
  readonly scope: string;
  readonly roles?: readonly string[];
  readonly surface?: string;
  readonly plan?: string;
}

/** What `execute` may choose for one input. */
export interface RunOptions {
  readonly model?: string;
  readonly temperature?: number;
  readonly maxTokens?: number;
  readonly reasoningEffort?: "minimal" | "low" | "medium" | "high";
  readonly surface?: string;
  /** Id of the part of the product that the user is in; the prompt may depend on it. */
  readonly activeModule?: string;
}

/** A client tool that came with a session: it has no `execute`, so it is plain data. */
export interface DeclaredTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonSchema;
  readonly label?: string;
  /** How long an answer may take. Default: for ever. */
  readonly timeoutMs?: number;
}

/** What an input does while a run is open: a run of its own after all others, joins before the next model call, or aborts the open run and comes next. */
export type InputMode = "enqueue" | "steer" | "interrupt";

/** Milliseconds of one model call. */
export interface Timings {
  readonly totalMs: number;
  /** Until the first piece of content; absent for an unstreamed call. */
  readonly firstTokenMs?: number;
}

/** The verdict of the `decide` hook after a model call. */
export type Decision =
  | { readonly action: "stop"; readonly reason?: string }
  /** One more turn with this notice, also when no tool was asked for. */
  | { readonly action: "nudge"; readonly notice: string }
  /** The next model call must use this tool. */
  | { readonly action: "force"; readonly tool: string };

/** A person's decision on a call for which a gate requested approval. */
export type ApprovalVerdict = "allow" | "deny";

export interface RoutedCall {
  readonly callKey: string;
  readonly route: CallRoute;
}

/** A result as a fact holds it. */
export interface CallResult {
  readonly outcome: CallOutcome;
  /** What the model sees. */
  readonly output: readonly ResultPart[];
  readonly failure?: Failure;
  /** What only the application sees. */
  readonly details?: Json;
  /** What later runs see instead of `output`, where the tool gave one. */
  readonly summary?: string;
}

export interface ProgressStep {
  readonly id: string;
  readonly title: string;
  readonly icon?: string;
  readonly state: "open" | "done" | "failed";
}

export type FactBody =
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
    }
  | { readonly type: "session.changed"; readonly title?: string; readonly metadata?: JsonObject }
  | {
      readonly type: "input.accepted";
      readonly inputId: string;
      readonly runId: string;
      /** Absent: answer the message `parent` again. */
      readonly message?: UserMessage;
      readonly mode: InputMode;
      /** Its run comes before those of the inputs that wait: set for `interrupt`. Absent in logs that were written before it was. */
      readonly jumps?: true;
      /** The message it continues. Default: the head when the run starts. `null`: the root. */
      readonly parent?: MessageId | null;
      readonly idempotencyKey?: string;
      /** Of what the key came with beside message and parent: the mode as asked for, the options, and what the caller adds. */
      readonly keyedDigest?: string;
      readonly access?: Access;
      readonly options?: RunOptions;
    }
  | { readonly type: "head.moved"; readonly to: MessageId | null }
  | { readonly type: "owner.claimed"; readonly node: string; readonly leaseMs: number }
  | {
      readonly type: "run.started";
      readonly runId: string;
      readonly agent: string;
      readonly agentDigest: string;
      readonly provider: string;
      readonly model: string;
      readonly tools: ToolPolicies;
      readonly limits: RunLimits;
    }
  | {
      readonly type: "model.started";
      readonly runId: string;
      readonly turn: number;
      readonly attempt: number;
      readonly provider: string;
      readonly model: string;
      readonly requestDigest: string;
      /** The tools that this call is shown, by value: only where they, or the code behind their names, differ from the list of `run.started`. */
      readonly tools?: ToolPolicies;
      /** Notices that join the history before this call. Only on the first attempt of a turn. */
      readonly notices?: readonly string[];
    }
  | {
      readonly type: "model.finished";
      readonly runId: string;
      readonly turn: number;
      readonly attempt: number;
      readonly message: AssistantMessage;
      readonly stopReason: StopReason;
      readonly calls: readonly RoutedCall[];
      readonly usage?: Usage;
      readonly cost?: Cost;
      readonly timings: Timings;
      readonly failure?: Failure;
      readonly decision?: Decision;
    }
  | {
      readonly type: "model.failed";
      readonly runId: string;
      readonly turn: number;
      readonly attempt: number;
      readonly failure: Failure;
      readonly usage?: Usage;
      readonly cost?: Cost;
    }
  | {
      readonly type: "wait.scheduled";
      readonly runId: string;
      readonly turn: number;
      readonly attempt: number;
      readonly until: number;
      readonly reason: string;
    }
  | {
      readonly type: "tool.started";
      readonly runId: string;
      readonly callKey: string;
      readonly attempt: number;
      readonly argsDigest: string;
      readonly replay: ToolPolicy["replay"];
      readonly idempotencyKey: string;
      readonly label?: string;
      /** Arguments as a hook edited them. */
      readonly args?: JsonObject;
    }
  | ({
      readonly type: "tool.finished";
      readonly runId: string;
      readonly callKey: string;
      readonly progress?: readonly ProgressStep[];
      readonly usage?: Usage;
      readonly cost?: Cost;
      readonly durationMs?: number;
    } & CallResult)
  | {
      readonly type: "client.requested";
      readonly runId: string;
      readonly callKeys: readonly string[];
      /** The earliest of theirs, milliseconds since the epoch; each has its own by its policy. Absent: all wait for ever. */
      readonly deadline?: number;
    }
  | ({
      readonly type: "client.answered";
      readonly runId: string;
      readonly callKey: string;
      readonly idempotencyKey?: string;
      readonly by?: string;
    } & CallResult)
  | {
      readonly type: "approval.requested";
      readonly runId: string;
      readonly callKey: string;
      /** SHA-256, hexadecimal, of the canonical text of the arguments that are asked about. */
      readonly argsDigest: string;
      /** Milliseconds since the epoch after which decisions are refused. Absent: the call waits without a limit. */
      readonly deadline?: number;
      /** Why a gate asks. */
      readonly reason?: string;
      /** Arguments as hooks edited them before they asked. */
      readonly args?: JsonObject;
    }
  | {
      readonly type: "approval.decided";
      readonly runId: string;
      readonly callKey: string;
      readonly decision: ApprovalVerdict;
      readonly idempotencyKey?: string;
      /** Of the arguments that the decider has seen, where he named them. */
      readonly argsDigest?: string;
      readonly by?: string;
      /** Arguments as the decider edited them. */
      readonly args?: JsonObject;
      readonly note?: string;
    }
  | { readonly type: "child.linked"; readonly runId: string; readonly callKey: string; readonly session: string; readonly agent: string }
  | { readonly type: "abort.requested"; readonly runId: string; readonly reason: string; readonly by?: string }
  | { readonly type: "limit.reached"; readonly runId: string; readonly which: "turns" | "toolCalls"; readonly value: number }
  | {
      readonly type: "context.compacted";
      /** The first and the last message of the path that the summary stands for. */
      readonly from: MessageId;
      readonly to: MessageId;
      readonly summary: string;
      readonly tokensBefore?: number;
      readonly tokensAfter?: number;
    }
  | {
      readonly type: "run.finished";
      readonly runId: string;
      readonly status: RunStatus;
      readonly reason: string;
      readonly failure?: Failure;
    }
  | { readonly type: "session.closed" };

export type RunStatus = "completed" | "aborted" | "failed";
export type FactType = FactBody["type"];

/** A fact before the log has given it a number. */
export type FactDraft = FactBody & { readonly at: number; readonly v: number; readonly epoch?: number };

/** What happened, durable: one entry of the log. */
export type Fact = FactDraft & { readonly seq: number };

/** A fact of one type. */
export type FactOf<T extends FactType> = Extract<Fact, { readonly type: T }>;
export type BodyOf<T extends FactType> = Extract<FactBody, { readonly type: T }>;
