import type { Access, Labels } from "../loop/fact.ts";
import type { ReplayClass } from "../loop/facts/tool-policy.ts";
import type { Json, JsonObject, JsonSchema } from "../message/json.ts";
import type { Message } from "../message/message.ts";
import type { SpentUsage } from "../message/usage.ts";
import type { Logger } from "../ports/logger.ts";
import type { ChildAgent, SpawnChild, StartChild } from "./child-agent.ts";
import type { StandardSchema } from "./standard-schema.ts";

/**
 * What a tool may give as its output: text, parts, or any value that has a JSON form (shown to the model as JSON text). Interfaces, dates and
 * optional members are no index signatures, so the type lets everything through; a value without a JSON form is named when the tool has run.
 */
export type ToolOutput = unknown;

/** What a streaming tool yields; text by itself and `{ stream: text }` are deltas too. After `complete` nothing counts. */
export type ToolEvent =
  | { readonly type: "delta"; readonly delta: string }
  | {
      readonly type: "complete";
      readonly output: ToolOutput;
      /** For the application, never for the model. */
      readonly details?: unknown;
      /** What the model reads in place of the output from the next run on; people see the output all the same. Blank: none. */
      readonly summary?: string;
    };

/** A step of a tool that people can watch. */
export interface ProgressHandle {
  update(title: string): void;
  end(state?: "done" | "failed"): void;
}

/** A place for files that tools of a session share; see `tools-files`. */
export interface FilesRoot {
  /** Absolute path of the directory. */
  readonly directory: string;
}

/** What a tool is given beside its arguments. */
export interface ToolContext<Resources = unknown> {
  /** The vendor's id of the call, for logs. */
  readonly callId: string;
  /** Names the call within the session: `<runId>.<turn>.<index>`. */
  readonly callKey: string;
  /** Equal on every attempt of this call: hand it to services that can use it. */
  readonly idempotencyKey: string;
  /** From 1. */
  readonly attempt: number;
  /** Aborted when the run is aborted or the time is up. A tool that ignores it is left behind. */
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch; `undefined`: no limit. */
  readonly deadline: number | undefined;
  /** Of the caller whose input the run answers. */
  readonly access: Access;
  /** Of the input that the run answers. Those of the user stand in `access`. */
  readonly labels: Labels;
  /**
   * Opens a step that watchers see, its changes at most twenty times a second; open steps are ended with the tool. The ended steps stay with the
   * result, so that they are shown after a reload. At most 200.
   */
  progress(title: string, options?: { readonly icon?: string }): ProgressHandle;
  /**
   * Attributes tokens of a model that the tool used by itself. `cost`: what they cost, where the tool knows; else the agent's prices are asked, where
   * `provider` and `model` are named.
   */
  addUsage(spent: SpentUsage): void;
  /** The session's own: for operators. */
  readonly logger: Logger;
  /**
   * Records `note.recorded`: at most 16 KiB of JSON for the package that writes it; models and the loop never see it. Resolves when the log has it.
   * @throws AgentError INPUT_INVALID when it is too large or no JSON, STORE_*
   */
  record(kind: string, data: Json): Promise<void>;
  /**
   * Starts an agent as a child: a session of its own in the same store, with this input. Resolves when it has ended, however it ended. Within the call
   * the same key means the same child: after a crash an idempotent tool that runs again attaches to it, and no second one starts. It is aborted when
   * the call ends or the run is aborted.
   * @throws AgentError LIMIT_REACHED deeper than `limits.depthMax`, KEY_REUSED with another agent or input, INPUT_INVALID, CONFIG_INVALID, STORE_*
   */
  readonly child: StartChild;
  /**
   * Starts an agent as a child in the background, and resolves when that is recorded. The child outlives the call and the run, whatever ends them. Its
   * end becomes an input of this session: it joins the open run, or starts one, once, over crashes too. Its agent stands in `agents` of the tool, where
   * every process finds it. The same key means the same child. It is stopped by an abort of its own session, and erased with this one.
   * @throws AgentError LIMIT_REACHED deeper than `limits.depthMax`, beyond 32 at once, and in the ninth run in a row that reports have started;
   * KEY_REUSED, INPUT_INVALID, CONFIG_INVALID, STORE_*
   */
  readonly spawn: SpawnChild;
  /** What the agent was given as `files`. */
  readonly files: FilesRoot | undefined;
  /** The session that the call belongs to, and its conversation until now. */
  readonly session: { readonly id: string; messages(): readonly Message[] };
  /** What the agent was given as `resources`. */
  readonly resources: Resources;
}

/** Of a tool that `defineTools` bound to a type of resources. It exists for the type checker alone. */
export interface NeedsResources<Resources> {
  readonly "~resources"?: (resources: Resources) => void;
}

type Awaitable<T> = T | PromiseLike<T>;

/** The verdict of a gate, or of the tool's own `approval`, on a call. */
export type GateVerdict =
  | { readonly action: "allow" }
  | { readonly action: "edit"; readonly args: JsonObject }
  | { readonly action: "deny"; readonly reason: string }
  /** The call has its approval: what the tool and the gates before this one have asked is settled. The reason is recorded; say whose approval it is. */
  | { readonly action: "approve"; readonly reason: string }
  /**
   * A person must allow it first. The run waits meanwhile and needs no process; `timeoutMs`: at most so long (default: for ever), then the model
   * reads that the time for a decision is over. `reason` is shown to the person. At most 2,000 characters of it are kept.
   */
  | { readonly action: "ask"; readonly timeoutMs?: number; readonly reason?: string };

/** Which call `approval` is asked about. */
export interface ApprovalContext<Resources = unknown> {
  readonly callKey: string;
  readonly sessionId: string;
  readonly runId: string;
  readonly access: Access;
  readonly signal: AbortSignal;
  /** What the agent was given as `resources`. */
  readonly resources: Resources;
}

/** True, or a reason for the person: each call needs approval. A function decides for each call: true asks, false allows, or a verdict. */
export type ToolApproval<Args, Resources> =
  | true
  | string
  | { decide(args: Args, context: ApprovalContext<Resources>): Awaitable<GateVerdict | boolean> }["decide"];

/** What `execute` may give: a value, a completion, a promise of either, or a stream whose returned value, if any, is the output. */
export type ToolReturn = unknown;

/**
 * Something the model may call. Without `execute`, or with `visibility: "client"`, the caller runs it and the run waits.
 * Build one with `defineTool`, which checks it and infers the arguments from the schema.
 */
export interface Tool<Args = unknown, Resources = unknown> {
  /** `[a-zA-Z0-9_-]{1,64}`, unique in the agent. */
  readonly name: string;
  /** For the model: what the tool does and when to use it. */
  readonly description: string;
  /** For people; default: the name. */
  readonly label?: string;
  /** A Standard Schema (zod, valibot, arktype, ...) that can also give its JSON Schema, or plain JSON Schema (checked by shape only). */
  readonly parameters: StandardSchema<Args> | JsonSchema;
  /** Runs a call with checked arguments. Returns a value, a promise of one, or a stream of deltas whose returned value is the output. Absent: the caller runs it. */
  execute?(args: Args, context: ToolContext<Resources>): ToolReturn;
  /** Where it runs. Default `server` where there is an `execute`. */
  readonly visibility?: "server" | "client";
  /**
   * What may happen when it is unknown whether a started call ended: `pure` and `idempotent` run again under the same idempotency key, `once` (default)
   * never does.
   */
  readonly replay?: ReplayClass;
  /** Looks up the outcome of a call that was in doubt; `undefined`: unknown. */
  lookup?(idempotencyKey: string, context: { readonly signal: AbortSignal }): Promise<ToolOutput>;
  /** Milliseconds for one attempt. Default 120,000 for server tools; for client tools 0 (no limit). */
  readonly timeoutMs?: number;
  /** Characters of output that reach the model; the rest is cut with a note. Default 100,000. */
  readonly outputMax?: number;
  /** Runs alone in its turn. Default false. */
  readonly sequential?: boolean;
  /** The agents that it starts as children, so that each process which runs a child finds its agent. `agentTool` names its own. */
  readonly agents?: readonly ChildAgent<unknown>[];
  /** Whether it counts against `limits.toolCallsMax`. Default true. */
  readonly counts?: boolean;
  /**
   * What becomes of a call whose arguments are no JSON object: `error` (default) answers it with what is wrong, `defaults` takes them for `{}`
   * and lets the schema decide. Arguments that were cut off, nest too deeply or use a forbidden key are always an error.
   */
  readonly onBadArguments?: "error" | "defaults";
  /** Whether a person must allow a call of a server tool before it runs. Asked before the hooks `gate`, with the arguments as the schema gives them. */
  readonly approval?: ToolApproval<Args, Resources>;
  /** Asked before each call; false answers the call with TOOL_NOT_ENABLED. */
  enabled?(context: { readonly access: Access }): Awaitable<boolean>;
}
