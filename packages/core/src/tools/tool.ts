import type { Access } from "../loop/fact.ts";
import type { ReplayClass } from "../loop/policy.ts";
import type { JsonSchema } from "../message/json.ts";
import type { Message } from "../message/message.ts";
import type { Usage } from "../message/usage.ts";
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
  readonly callKey: string;
  /** Equal on every attempt of this call: hand it to services that can use it. */
  readonly idempotencyKey: string;
  /** From 1. */
  readonly attempt: number;
  /** Aborted when the run is aborted or the time is up. A tool that ignores it is left behind. */
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch; `undefined`: no limit. */
  readonly deadline: number | undefined;
  readonly access: Access;
  /** Opens a step that watchers see, its changes at most twenty times a second; open steps are ended with the tool. At most 200. */
  progress(title: string, options?: { readonly icon?: string }): ProgressHandle;
  /** Attributes tokens of a model that the tool used by itself. */
  addUsage(usage: Usage): void;
  readonly files: FilesRoot | undefined;
  readonly session: { readonly id: string; messages(): readonly Message[] };
  /** What the agent was given as `resources`. */
  readonly resources: Resources;
}

type Awaitable<T> = T | PromiseLike<T>;

/** What `execute` may give: a value, a completion, a promise of either, or a stream whose returned value, if any, is the output. */
export type ToolReturn = unknown;

/**
 * Something the model may call. Without `execute`, or with `visibility: "client"`, the caller runs it and the run waits.
 * Build one with `defineTool`, which checks it and infers the arguments from the schema.
 */
export interface Tool<Args = unknown, Resources = unknown> {
  /** `[a-zA-Z0-9_-]{1,64}`, unique in the agent. */
  readonly name: string;
  readonly description: string;
  /** For people; default: the name. */
  readonly label?: string;
  /** A Standard Schema (zod, valibot, arktype, ...) that can also give its JSON Schema, or plain JSON Schema (checked by shape only). */
  readonly parameters: StandardSchema<Args> | JsonSchema;
  execute?(args: Args, context: ToolContext<Resources>): ToolReturn;
  readonly visibility?: "server" | "client";
  /** Default `once`. */
  readonly replay?: ReplayClass;
  /** Says what became of a call that was in doubt; `undefined`: does not know. */
  lookup?(idempotencyKey: string, context: { readonly signal: AbortSignal }): Promise<ToolOutput>;
  /** Milliseconds for one attempt. Default 120,000 for server tools; for client tools 0 (no limit). */
  readonly timeoutMs?: number;
  /** Characters of output that reach the model; the rest is cut with a note. Default 100,000. */
  readonly outputMax?: number;
  /** Runs alone in its turn. Default false. */
  readonly sequential?: boolean;
  /** Whether it counts against `limits.toolCallsMax`. Default true. */
  readonly counts?: boolean;
  /**
   * What becomes of a call whose arguments are no JSON object: `error` (default) answers it with what is wrong, `defaults` takes them for `{}`
   * and lets the schema decide. Arguments that were cut off, nest too deeply or use a forbidden key are always an error.
   */
  readonly onBadArguments?: "error" | "defaults";
  /** Asked before each call; false answers the call with TOOL_NOT_ENABLED. */
  enabled?(context: { readonly access: Access }): Awaitable<boolean>;
}
