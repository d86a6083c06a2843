import type { Access, Decision, Labels, RememberedDecision } from "../loop/fact.ts";
import type { EndedRun } from "../loop/state.ts";
import type { ToolCallPart } from "../message/content.ts";
import type { Json, JsonObject } from "../message/json.ts";
import type { AssistantMessage, Message, UserMessage } from "../message/message.ts";
import type { Cost, SpentUsage, Usage } from "../message/usage.ts";
import type { Logger } from "../ports/logger.ts";
import type { ToolChoice } from "../ports/model-provider.ts";
import type { ChildAgent, SpawnChild, StartChild } from "../tools/child-agent.ts";
import type { GateVerdict, Tool, ToolOutput } from "../tools/tool.ts";

type Awaitable<T> = T | PromiseLike<T>;
// biome-ignore lint/suspicious/noConfusingVoidType: a hook that only looks returns nothing
type Answer<Verdict> = Awaitable<Verdict | undefined | void>;

/** The point at which a hook is called, and what it can do there. */
export interface HookContext<Resources = unknown> {
  readonly sessionId: string;
  readonly runId: string;
  /** Counted from 1; 0 before the first turn. */
  readonly turn: number;
  readonly access: Access;
  /** Labels of the input that the run answers. Labels of the user are in `access`. */
  readonly labels: Labels;
  readonly agent: string;
  /** Aborted when the run is aborted or another process takes over, and after ten minutes. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
  /** What the agent was given as `resources`. */
  readonly resources: Resources;
  /**
   * The state of this set of hooks in the run: the members that earlier verdicts set. It survives a crash. The member `session` is kept for later runs of the
   * session, which see it from their first `prepare` on.
   */
  readonly state: JsonObject;
  /** Adds usage of a model that the hook has called itself to the run. Recorded with the verdict; usage reported after that is lost. */
  addUsage(spent: SpentUsage): void;
  /**
   * Records one more verdict, for what a returned verdict cannot express: a finding that changed nothing, or a change by the filter of the same set.
   * `action`: a word that the package chooses, such as `redact`; the same action with the same reason is recorded once. Kept, published and counted like
   * every other verdict.
   */
  note(action: string, reason?: string): void;
  /**
   * Records `note.recorded`: at most 16 KiB of JSON for the package that writes it; models and the loop never see it. Resolves when the log has it.
   * @throws AgentError INPUT_INVALID when it is too large or no JSON, STORE_*
   */
  record(kind: string, data: Json): Promise<void>;
  /**
   * Starts an agent as a child of the run, as `ToolContext.child` does. In one run, the same key of this set of hooks means the same child. The child is
   * aborted when the run ends. Absent in `accept`, `filter` and `run`.
   */
  readonly child: StartChild;
  /** Starts an agent as a child in the background, as `ToolContext.spawn` does. The agent must be in `agents` of the hooks. */
  readonly spawn: SpawnChild;
}

/** What every verdict may have. */
export interface HookVerdict {
  /** Members of `context.state` to set, for later calls of this set of hooks in the run. At most 16 KiB in all. */
  readonly state?: JsonObject;
  /** Why, for people: recorded and published with the verdict. At most 2,000 characters. */
  readonly reason?: string;
}

/** The message that `accept` decides on. There is no run yet. */
export interface AcceptContext<Resources = unknown>
  extends Pick<HookContext<Resources>, "sessionId" | "access" | "labels" | "agent" | "signal" | "logger" | "resources" | "note"> {
  readonly message: UserMessage;
  /** True if the message was accepted before and is answered again. */
  readonly isRegenerated: boolean;
}

export type AcceptVerdict =
  | { readonly action: "allow" }
  /** Accept `message` instead. Not for a message that is to be answered again. */
  | { readonly action: "edit"; readonly message: string | UserMessage; readonly reason?: string }
  /** Nothing is recorded, and the caller gets INPUT_REFUSED with the reason. */
  | { readonly action: "refuse"; readonly reason: string }
  /** Answer with this text: a run without a model call. */
  | { readonly action: "answer"; readonly text: string; readonly reason?: string };

/** What `prepare` may change of the next model call; absent members change nothing. */
export interface PrepareVerdict extends HookVerdict {
  readonly model?: string;
  readonly system?: string;
  /** The only tools that this model call may use: a call of another tool is answered with TOOL_UNKNOWN. */
  readonly tools?: readonly Tool[];
  readonly toolChoice?: ToolChoice;
  readonly temperature?: number;
  readonly maxTokens?: number;
  /** Replaces the agent's option for this call, for example by plan (`access.labels`) or by model. */
  readonly parallelToolCalls?: boolean;
  /** Notices for the model, recorded in the history. Only used on the first attempt of a turn. */
  readonly notices?: readonly string[];
  /** Messages in front of the conversation, for this call alone: examples of good answers. Those of later hooks stand behind those of earlier ones. */
  readonly examples?: readonly Message[];
  /** Text in front of the last input that begins with a text, for this call alone. That of later hooks stands behind that of earlier ones. */
  readonly inputPrefix?: string;
  /** Notices behind the conversation, for this call alone. Unlike `notices` they are not recorded. */
  readonly reminders?: readonly string[];
  /**
   * The conversation for this call alone, in place of the session's with its compactions; that of the session does not change. Made valid for every vendor,
   * as that is. To add to the conversation, use `examples`, `inputPrefix` and `reminders`.
   */
  readonly messages?: readonly Message[];
  /** True: no model call is made, and the run completes with `reason`. */
  readonly stop?: boolean;
}

export interface PrepareContext extends HookContext {
  readonly attempt: number;
  /** The conversation when the hook is called. Frozen: it does not change later. */
  readonly messages: readonly Message[];
  readonly system: string | undefined;
  readonly tools: readonly Tool[];
  readonly model: string;
}

export interface ParseContext extends HookContext {
  /** The call as the runtime parsed it: `args` are `{}` if `problem` is set. */
  readonly call: ToolCallPart;
  /** The arguments as the model wrote them; if that is sound JSON, as the parsed arguments. */
  readonly text: string;
  /** `undefined`: the model was not shown a tool of this name. */
  readonly tool: Tool | undefined;
}

/** The new arguments of the call, for the message, the schema and the tool. */
export interface ParseVerdict extends HookVerdict {
  readonly args?: JsonObject;
}

/**
 * Why `decide` is called. `calls`: the answer has calls. `no_calls`: it has none, so the run would end. `limit`: a limit is reached after its calls.
 * `tools_disabled`: all its calls are of tools that are not enabled.
 */
export type DecideReason = "calls" | "no_calls" | "limit" | "tools_disabled";

export interface DecideContext extends HookContext {
  readonly reason: DecideReason;
  readonly message: AssistantMessage;
  readonly calls: readonly ToolCallPart[];
  /** The conversation before `message`. Frozen. */
  readonly messages: readonly Message[];
  readonly usage: Usage | undefined;
  readonly cost: Cost | undefined;
}

/** What `decide` may change of the answer itself. */
export interface AnswerVerdict extends HookVerdict {
  /** This text takes the place of the whole answer, its calls included. What was streamed is withdrawn. */
  readonly answer?: string;
  /** Replaces the usage of the vendor; `cost`: its price. */
  readonly usage?: Usage;
  readonly cost?: Cost;
}

/** @see Decision for `stop`, `finish`, `continue`, `nudge` and `force` */
export type DecideVerdict =
  | (AnswerVerdict & { readonly action?: undefined })
  | (AnswerVerdict & Decision)
  /** Nothing of the answer is kept. With `again` the model is called again, up to `limits.attemptsMax` attempts; else the run fails with ANSWER_WITHDRAWN. */
  | (AnswerVerdict & { readonly action: "retract"; readonly reason: string; readonly again?: boolean });

/** A verdict of a gate, with what every verdict may have. */
export type GateHookVerdict = GateVerdict & HookVerdict;

export interface GateContext extends HookContext {
  readonly call: ToolCallPart;
  /** All calls of the turn, in call order. */
  readonly calls: readonly ToolCallPart[];
  readonly tool: Tool;
  /** True if the tool or an earlier gate requires a person's approval. */
  readonly isAsked: boolean;
  /** Remembered decisions on earlier calls: of the session, and of the sessions above it. */
  readonly remembered: readonly RememberedDecision[];
}

export interface ReviewContext extends Omit<GateContext, "isAsked" | "remembered"> {
  readonly outcome: "ok" | "error";
  /** The text that the model would see. */
  readonly output: string;
  /** The usage that the tool has reported. */
  readonly usage: Usage | undefined;
  readonly cost: Cost | undefined;
}

export interface ReviewVerdict extends HookVerdict {
  /** What the model sees in place of the output. */
  readonly output?: ToolOutput;
  /** True: the call fails, and the model reads `output` or the reason. */
  readonly fail?: boolean;
  /** The tool that the next model call must use. */
  readonly force?: string;
  /** Replaces the usage of the tool; `cost`: its price. */
  readonly usage?: Usage;
  readonly cost?: Cost;
}

/** The kind of text that a filter gets. */
export type FilterKind = "text" | "thinking" | "arguments" | "tool" | "progress";

/**
 * Filters the output of a model and of a server tool before it is recorded, published or sent. Of a model: text, thinking, and each string of a call's
 * arguments. Of a tool: deltas, each string of output, `details` and `summary`, texts of errors, and titles of progress.
 */
export interface StreamFilter {
  /**
   * How many characters are held back, because a match may span deltas: the length of the longest match. Default 0. Each block, string and tool has its own
   * window. A function returns how many characters at the end of the text in the window could begin a match; text before them is shown at once. If no cut
   * fits the text, at most 16 KiB of characters are then held back.
   */
  readonly holdBack?: number | { at(text: string): number }["at"];
  /**
   * Returns the text to show. Called with the raw text in the window, repeatedly as it grows, without what came before; must return its own output unchanged.
   * A promise holds back later text, for at most ten seconds; then the call fails.
   */
  apply?(text: string, context: FilterContext): Awaitable<string>;
  /** True: an answer is shown as a whole, after `decide` has returned. Of an answer that is cut off nothing is shown. */
  readonly holdTurn?: boolean;
}

export interface FilterContext
  extends Pick<HookContext, "sessionId" | "runId" | "turn" | "access" | "agent" | "signal" | "logger" | "resources"> {
  readonly kind: FilterKind;
  /** The tool whose arguments, output or progress the text is from. */
  readonly tool?: string;
  /** The key of the call whose output or progress the text is from. */
  readonly callKey?: string;
}

/** How a run ended. */
export interface RunEnd extends EndedRun {
  /** What the run added to the conversation, oldest first. */
  readonly messages: readonly Message[];
}

/** The beginning and the end of a run. */
export interface RunHooks {
  /** Called before the run is recorded as started, also if a hook has answered the input. */
  start?(context: Omit<HookContext, "child" | "spawn">): Answer<HookVerdict>;
  /** Called after the end of the run is recorded, by the same process. The run does not wait for it. Not called if that process dies right after the record. */
  end?(context: Omit<HookContext, "child" | "spawn" | "note"> & { readonly result: RunEnd }): Awaitable<void>;
}

/**
 * User code in a run. Sets of hooks are called in order, and each sees the changes of those before it. `gate`: the first denial decides, even if another gate
 * asks for approval. A hook that throws fails what it was called for: the request (`accept`), the run (`run.start`, `prepare`, `decide`) or the call
 * (`parse`, `gate`, `review`), without a retry, and never with an error code of a model. What a verdict changes is recorded in the fact of that change and
 * published by the event `verdict`.
 */
export interface Hooks {
  /** 1 to 64 characters, unique in the agent. Verdicts, errors and logs carry it, and `context.state` is kept under it. */
  readonly name: string;
  /** True: also called in the runs of all agents below this agent, after their own hooks. */
  readonly isInherited?: boolean;
  /** The agents that these hooks start as children: each process that runs a child finds its agent here. */
  readonly agents?: readonly ChildAgent<unknown>[];
  /**
   * Called before a message is accepted, in the process that takes the request, once for an idempotency key, for at most 1.5 seconds. If it fails, nothing is
   * recorded.
   */
  accept?(context: AcceptContext): Answer<AcceptVerdict>;
  run?: RunHooks;
  /** Called before each model call. */
  prepare?(context: PrepareContext): Answer<PrepareVerdict>;
  filter?: StreamFilter;
  /** Called for each tool call of an answer that ended properly, before its arguments are checked. */
  parse?(context: ParseContext): Answer<ParseVerdict>;
  /** Called after each model call that ended properly. Without a verdict, the calls decide. */
  decide?(context: DecideContext): Answer<DecideVerdict>;
  /** Called before each tool, also of clients; for server tools with validated arguments. Not called again after a person has allowed the call. */
  gate?(context: GateContext): Answer<GateHookVerdict>;
  /** Called after each server tool. */
  review?(context: ReviewContext): Answer<ReviewVerdict>;
}
