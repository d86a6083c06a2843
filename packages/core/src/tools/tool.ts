import type { Access, Labels } from "../loop/fact.ts";
import type { ReplayClass } from "../loop/facts/tool-policy.ts";
import type { Json, JsonObject, JsonSchema } from "../message/json.ts";
import type { Message } from "../message/message.ts";
import type { SpentUsage } from "../message/usage.ts";
import type { Logger } from "../ports/logger.ts";
import type { ChildAgent, SpawnChild, StartChild } from "./child-agent.ts";
import type { StandardSchema } from "./standard-schema.ts";

/**
 * What a tool may return as its output: text, parts, or any value that has a JSON form (shown to the model as JSON text). The type lets everything through,
 * because interfaces, dates and optional members fit no index signature; a value without a JSON form is an error of the call.
 */
export type ToolOutput = unknown;

/** What a streaming tool yields; text by itself and `{ stream: text }` are deltas too. Events after `complete` are ignored. */
export type ToolEvent =
  | { readonly type: "delta"; readonly delta: string }
  | {
      readonly type: "complete";
      readonly output: ToolOutput;
      /** For the application, never for the model. */
      readonly details?: unknown;
      /** What the model reads in place of the output from the next run on; people still see the output. Blank: none. */
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
  /** Counted from 1. */
  readonly attempt: number;
  /** Aborted when the run is aborted or the time is up. The run does not wait for a tool that ignores it. */
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch; `undefined`: no limit. */
  readonly deadline: number | undefined;
  /** The user whose input the run answers. */
  readonly access: Access;
  /** Labels of the input that the run answers. Labels of the user are in `access`. */
  readonly labels: Labels;
  /**
   * Opens a step that watchers see; changes are published at most twenty times a second, and open steps end with the tool. The steps stay with the result, so
   * that they are shown after a reload. At most 200.
   */
  progress(title: string, options?: { readonly icon?: string }): ProgressHandle;
  /**
   * Adds usage of a model that the tool has called itself. `cost`: its cost, if the tool knows it; otherwise the agent's prices give it, if `provider` and
   * `model` are set.
   */
  addUsage(spent: SpentUsage): void;
  /** The logger of the session, for operators. */
  readonly logger: Logger;
  /**
   * Records `note.recorded`: at most 16 KiB of JSON for the package that writes it; models and the loop never see it. Resolves when the log has it.
   * @throws AgentError INPUT_INVALID when it is too large or no JSON, STORE_*
   */
  record(kind: string, data: Json): Promise<void>;
  /**
   * Starts an agent as a child: a new session in the same store, with this input. Resolves when the child has ended, however it ended. Within the call the
   * same key means the same child: an idempotent tool that runs again after a crash attaches to it, and starts no second child. The child is aborted when the
   * call ends or the run is aborted.
   * @throws AgentError LIMIT_REACHED deeper than `limits.depthMax`, KEY_REUSED with another agent or input, INPUT_INVALID, CONFIG_INVALID, STORE_*
   */
  readonly child: StartChild;
  /**
   * Starts an agent as a child in the background, and resolves when that is recorded. The child outlives the call and the run, whatever ends them. Its end
   * becomes exactly one input of this session, which joins the open run or starts one. Its agent must be in `agents` of the tool, where every process finds
   * it. The same key means the same child. An abort of its own session stops the child, and it is erased with this session.
   * @throws AgentError LIMIT_REACHED deeper than `limits.depthMax`, beyond 32 at once, and in the ninth run in a row that reports have started; KEY_REUSED,
   * INPUT_INVALID, CONFIG_INVALID, STORE_*
   */
  readonly spawn: SpawnChild;
  /** What the agent was given as `files`. */
  readonly files: FilesRoot | undefined;
  /** The session that the call belongs to, and its conversation until now. */
  readonly session: { readonly id: string; messages(): readonly Message[] };
  /** What the agent was given as `resources`. */
  readonly resources: Resources;
}

/** Marks a tool that `defineTools` bound to a type of resources. Exists for the type checker alone. */
export interface NeedsResources<Resources> {
  readonly "~resources"?: (resources: Resources) => void;
}

type Awaitable<T> = T | PromiseLike<T>;

/** The verdict of a gate, or of the tool's own `approval`, on a call. */
export type GateVerdict =
  | { readonly action: "allow" }
  | { readonly action: "edit"; readonly args: JsonObject }
  | { readonly action: "deny"; readonly reason: string }
  /** The call is approved, and earlier requests for approval by the tool and by gates are settled. The reason is recorded; state in it whose approval it is. */
  | { readonly action: "approve"; readonly reason: string }
  /**
   * A person must allow the call first. The run waits meanwhile and needs no process. `timeoutMs`: the longest wait (default: for ever); then the model reads
   * that the time for a decision is over. `reason` is shown to the person. At most 2,000 characters of it are kept.
   */
  | { readonly action: "ask"; readonly timeoutMs?: number; readonly reason?: string };

/** The call that `approval` decides on. */
export interface ApprovalContext<Resources = unknown> {
  readonly callKey: string;
  readonly sessionId: string;
  readonly runId: string;
  readonly access: Access;
  readonly signal: AbortSignal;
  /** What the agent was given as `resources`. */
  readonly resources: Resources;
}

/** True, or a reason for the person: each call needs approval. A function decides for each call: by true (ask), false (allow) or a verdict. */
export type ToolApproval<Args, Resources> =
  | true
  | string
  | { decide(args: Args, context: ApprovalContext<Resources>): Awaitable<GateVerdict | boolean> }["decide"];

/** What `execute` may return: a value, a completion, a promise of either, or a stream whose returned value, if any, is the output. */
export type ToolReturn = unknown;

/**
 * Something the model may call. Without `execute`, or with `visibility: "client"`, a client runs it and the run waits.
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
  /**
   * Runs a call with checked arguments. Returns a value, a promise of one, or a stream of deltas whose returned value is the output. Absent: a client runs
   * it.
   */
  execute?(args: Args, context: ToolContext<Resources>): ToolReturn;
  /** Where it runs. Default `server` if there is an `execute`. */
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
  /** The agents that the tool starts as children: each process that runs a child finds its agent here. `agentTool` sets it. */
  readonly agents?: readonly ChildAgent<unknown>[];
  /** Whether it counts against `limits.toolCallsMax`. Default true. */
  readonly counts?: boolean;
  /**
   * What becomes of a call whose arguments are no JSON object: `error` (default) returns the problem to the model, `defaults` uses `{}` instead and lets the
   * schema decide. Arguments that were cut off, nest too deeply or use a forbidden key are always an error.
   */
  readonly onBadArguments?: "error" | "defaults";
  /** Whether a person must allow a call of a server tool before it runs. Called before the hooks `gate`, with the arguments as the schema returns them. */
  readonly approval?: ToolApproval<Args, Resources>;
  /** Called before each call; false answers the call with TOOL_NOT_ENABLED. */
  enabled?(context: { readonly access: Access }): Awaitable<boolean>;
}
