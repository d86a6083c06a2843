import type { ModelChunk } from "../message/chunk.ts";
import type { JsonObject, JsonSchema } from "../message/json.ts";
import type { Message } from "../message/message.ts";

/** The features and limits of a model. For unknown models the provider assumes the least. */
export interface ModelCapabilities {
  /** False: the provider makes one call and yields one batch. */
  readonly streaming: boolean;
  readonly tools: boolean;
  readonly vision: boolean;
  /**
   * Media types of files that it takes beside text, `audio/*` for all of a kind. A file of another type is refused before its message is recorded.
   * Absent: not known.
   */
  readonly files?: readonly string[];
  /** True if prompts are cached: by cache markers, or by the vendor itself. */
  readonly promptCaching: boolean;
  readonly contextTokens?: number;
  readonly outputTokensMax?: number;
}

/** The definition of a tool that is sent to the model. */
export interface ToolSpec {
  /** `[a-zA-Z0-9_-]{1,64}`, checked at registration. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments; its root is an object. */
  readonly parameters: JsonSchema;
}

/** A part of the system prompt. */
export interface SystemPart {
  /** Not blank. */
  readonly text: string;
  /** Where it comes from: `agent`, `session`, `hook` or the `source` of a prompt layer. */
  readonly source: string;
  /** `stable`: the same in all sessions of the agent. `session`: it may differ between sessions, and between the calls of one. */
  readonly cache: "stable" | "session";
}

export type ToolChoice = "auto" | "none" | "required" | { readonly tool: string };

/**
 * One call of a model. The messages are valid for every vendor by construction: they begin with a user message, every call
 * has exactly one result right after its message in call order, no part is empty (except a blank text of an answer that carries opaque data of
 * the vendor), notices are between turns only.
 * Messages are immutable and keep their identity from call to call, so a provider may cache the encoded form of each (WeakMap). The list
 * belongs to the session and grows after the call: copy it to keep a request.
 */
export interface ModelRequest {
  readonly model: string;
  /**
   * The system prompt, stable parts first. Absent: none. For a vendor with one system prompt they are joined (`systemText`). For a vendor with
   * cache markers, the provider marks the end of the stable parts, and the end of the others if there are any.
   */
  readonly system?: readonly SystemPart[];
  readonly messages: readonly Message[];
  /** Absent or empty: no `tools`, `tool_choice` or `parallel_tool_calls` on the wire. */
  readonly tools?: readonly ToolSpec[];
  readonly toolChoice?: ToolChoice;
  readonly parallelToolCalls?: boolean;
  /** Absent: nothing is sent, or the maximum of the model if the vendor requires a value. */
  readonly maxTokens?: number;
  readonly temperature?: number;
  /**
   * How much the model is to reason: sent in the vendor's nearest form; without such a form the call is MODEL_UNSUPPORTED. `budgetTokens` counts
   * tokens. Default: that of the vendor. A turn in which the vendor forbids reasoning (a forced tool, a tool loop that began without it) has none.
   */
  readonly reasoning?: { readonly effort?: "minimal" | "low" | "medium" | "high"; readonly budgetTokens?: number };
  /** Ask for an answer that is JSON of this schema. */
  readonly output?: { readonly name: string; readonly schema: JsonSchema };
  /** Stable per session, for vendors that route their cache by a key. */
  readonly cacheKey?: string;
  /** False: one unstreamed call. Default: streamed if the model can. */
  readonly stream?: boolean;
  /** Merged into the request body last and unchanged: options of this vendor that have no field here. */
  readonly vendorOptions?: JsonObject;
}

export interface ModelCallIo {
  /** Aborts the request and closes its socket. The stream then throws the signal's reason or an AgentError; it never ends as if complete. */
  readonly signal: AbortSignal;
  /** Counts from 1. For logs: a provider does not retry by itself. */
  readonly attempt: number;
}

/**
 * A vendor of models. `stream` yields one array per socket read, ends with exactly one `end` chunk and throws AgentErrors
 * (MODEL_*, CONTEXT_OVERFLOW; EXECUTOR_FAILED of a program in place of a model) that contain no vendor object, no key and no prompt. Chunks that arrived before an error are yielded before it is
 * thrown, also when one read contained both. A stream that ends before the vendor's terminal event throws MODEL_STREAM_BROKEN. A provider has no
 * timers and no retries: the driver has them. The key is read and the request is sent when the stream is first read, never before. Each option of the
 * request is sent to the vendor, or the call throws MODEL_UNSUPPORTED before anything is sent. Redirects are refused (MODEL_REDIRECTED), the size
 * of a response is limited, and JSON of an undocumented shape is MODEL_PROTOCOL. Leaving the stream early closes the connection; usage that the vendor does not report
 * is absent, never 0.
 */
export interface ModelProvider {
  /** Name on facts and messages, for example `anthropic`. */
  readonly name: string;
  readonly defaultModel: string;
  capabilities(model: string): ModelCapabilities;
  /** Rejects tools that no model of the vendor accepts, before an agent is created with them. @throws AgentError CONFIG_INVALID */
  checkTools?(tools: readonly ToolSpec[]): void;
  stream(request: ModelRequest, io: ModelCallIo): AsyncIterable<readonly ModelChunk[]>;
}
