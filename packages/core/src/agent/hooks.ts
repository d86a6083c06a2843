import type { Access, Decision } from "../loop/fact.ts";
import type { ToolCallPart } from "../message/content.ts";
import type { JsonObject } from "../message/json.ts";
import type { AssistantMessage, Message } from "../message/message.ts";
import type { ToolChoice } from "../ports/model-provider.ts";
import type { Tool, ToolOutput } from "../tools/tool.ts";

type Awaitable<T> = T | PromiseLike<T>;

/** Where in a run a hook is asked. */
export interface HookContext {
  readonly sessionId: string;
  readonly runId: string;
  /** From 1. */
  readonly turn: number;
  readonly access: Access;
  readonly agent: string;
  readonly signal: AbortSignal;
}

/** What `prepare` may change of the next model call; what it leaves out stays. */
export interface PrepareVerdict {
  readonly model?: string;
  readonly system?: string;
  /** The only tools that this model call may use: a call of any other one is answered with TOOL_UNKNOWN. */
  readonly tools?: readonly Tool[];
  readonly toolChoice?: ToolChoice;
  readonly temperature?: number;
  readonly maxTokens?: number;
  /** For this call instead of the agent's, for example by plan (`access.plan`) or by model. */
  readonly parallelToolCalls?: boolean;
  /** Words from the runtime to the model, recorded in the history. Only taken on the first attempt of a turn. */
  readonly notices?: readonly string[];
}

export interface PrepareContext extends HookContext {
  readonly attempt: number;
  /** The conversation when the hook is asked. Frozen: it does not change later. */
  readonly messages: readonly Message[];
  readonly system: string | undefined;
  readonly tools: readonly Tool[];
  readonly model: string;
}

export type GateVerdict =
  | { readonly action: "allow" }
  | { readonly action: "edit"; readonly args: JsonObject }
  | { readonly action: "deny"; readonly reason: string }
  /**
   * A person must allow it first. The run waits meanwhile and needs no process; `timeoutMs`: at most so long (default: for ever), then the
   * model is told that nobody decided. `reason` is for whoever decides. At most 2,000 characters of it are kept.
   */
  | { readonly action: "ask"; readonly timeoutMs?: number; readonly reason?: string };

export interface GateContext extends HookContext {
  readonly call: ToolCallPart;
  readonly tool: Tool;
}

export interface ReviewContext extends GateContext {
  readonly outcome: "ok" | "error";
  /** Text of what the model would see. */
  readonly output: string;
}

/**
 * Looks at what a model and a server tool say before it is kept, told or sent: text, thinking, each string of a call's arguments, and of a tool its
 * deltas, each string of its output, `details` and `summary`, the words of its errors, and the titles of its progress.
 */
export interface StreamFilter {
  /** Characters held back so that a pattern may span deltas: the longest match. Default 0. Each block, string and tool has a window of its own. */
  readonly holdBack?: number;
  /**
   * The text to show instead. Asked about the raw text in the window, again and again as it grows, and not about what came before the window;
   * must leave its own output unchanged when asked again.
   */
  apply(text: string, context: HookContext & { readonly kind: "text" | "thinking" | "arguments" | "tool" | "progress" }): string;
}

/**
 * The five points of user code in a run. Several sets are asked in the order of the list; `gate`: the first that denies
 * decides, also over one that asks; edits pass from gate to gate. A hook that throws fails the run (`prepare`, `decide`) or the call (`gate`, `review`). A point without a hook costs nothing.
 */
export interface Hooks {
  /** Before each model call. */
  prepare?(context: PrepareContext): Awaitable<PrepareVerdict | undefined>;
  filter?: StreamFilter;
  /** After each model call that ended properly; no answer: the calls decide. `messages`: the conversation before `message`, frozen. */
  decide?(
    context: HookContext & { readonly message: AssistantMessage; readonly messages: readonly Message[] },
  ): Awaitable<Decision | undefined>;
  /** Before each server tool, after its arguments were validated. Not asked again once a person has allowed the call. */
  gate?(context: GateContext): Awaitable<GateVerdict | undefined>;
  /** After each server tool; an answer replaces what the model sees. */
  review?(context: ReviewContext): Awaitable<{ readonly output: ToolOutput } | undefined>;
}
