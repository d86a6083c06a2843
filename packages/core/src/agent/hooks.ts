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

/** Where in a run a hook is asked, and what it can do there. */
export interface HookContext<Resources = unknown> {
  readonly sessionId: string;
  readonly runId: string;
  /** From 1; 0 before the first. */
  readonly turn: number;
  readonly access: Access;
  /** Of the input that the run answers. Those of the user stand in `access`. */
  readonly labels: Labels;
  readonly agent: string;
  /** Aborted when the run is aborted or another process takes over, and after ten minutes. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
  /** What the agent was given as `resources`. */
  readonly resources: Resources;
  /**
   * What the hooks of this run have kept: the members that earlier verdicts set. It survives a crash. The member `session` is kept for the next runs of
   * the session, too; they see it from their first `prepare` on.
   */
  readonly state: JsonObject;
  /** Attributes tokens of a model that the hook used by itself to the run. Recorded with the verdict; one that comes later is lost. */
  addUsage(spent: SpentUsage): void;
  /**
   * Records a verdict beside the one that the hook returns, for what no returned verdict can express: a finding that changed nothing, or what the filter of the
   * same set has changed. `action`: a word of the package's own, such as `redact`; the same action with the same reason is recorded once. Kept,
   * published and counted like every other verdict.
   */
  note(action: string, reason?: string): void;
  /**
   * Records `note.recorded`: at most 16 KiB of JSON for the package that writes it; models and the loop never see it. Resolves when the log has it.
   * @throws AgentError INPUT_INVALID when it is too large or no JSON, STORE_*
   */
  record(kind: string, data: Json): Promise<void>;
  /**
   * Starts an agent as a child of the run, as `ToolContext.child` does. The same key means the same child for the whole run of this set of hooks; it is
   * aborted when the run ends. Not in `accept`, `filter` and `run`, where no run is open.
   */
  readonly child: StartChild;
  /** Starts an agent as a child in the background, as `ToolContext.spawn` does; its agent stands in `agents` of the hooks. */
  readonly spawn: SpawnChild;
}

/** What every verdict may have. */
export interface HookVerdict {
  /** Members of `context.state` to set, for the hooks that come after and for the rest of the run. At most 16 KiB in all. */
  readonly state?: JsonObject;
  /** Why, for people: recorded and published with the verdict. At most 2,000 characters. */
  readonly reason?: string;
}

/** The message that a hook is asked about before it is accepted. There is no run yet. */
export interface AcceptContext<Resources = unknown>
  extends Pick<HookContext<Resources>, "sessionId" | "access" | "labels" | "agent" | "signal" | "logger" | "resources" | "note"> {
  readonly message: UserMessage;
  /** It was accepted before, and is to be answered again. */
  readonly isRegenerated: boolean;
}

export type AcceptVerdict =
  | { readonly action: "allow" }
  /** Accept this in its place. Not for a message that is to be answered again. */
  | { readonly action: "edit"; readonly message: string | UserMessage; readonly reason?: string }
  /** Nothing is recorded, and the caller gets INPUT_REFUSED with the reason. */
  | { readonly action: "refuse"; readonly reason: string }
  /** Answer with this text: a run without a model call. */
  | { readonly action: "answer"; readonly text: string; readonly reason?: string };

/** What `prepare` may change of the next model call; what it leaves out stays. */
export interface PrepareVerdict extends HookVerdict {
  readonly model?: string;
  readonly system?: string;
  /** The only tools that this model call may use: a call of any other one is answered with TOOL_UNKNOWN. */
  readonly tools?: readonly Tool[];
  readonly toolChoice?: ToolChoice;
  readonly temperature?: number;
  readonly maxTokens?: number;
  /** For this call instead of the agent's, for example by plan (`access.labels`) or by model. */
  readonly parallelToolCalls?: boolean;
  /** Words from the runtime to the model, recorded in the history. Only taken on the first attempt of a turn. */
  readonly notices?: readonly string[];
  /** The conversation for this call alone; the session keeps its own. Made valid for every vendor like the session's. */
  readonly messages?: readonly Message[];
  /** True: no model call is made, and the run completes with `reason`. */
  readonly stop?: boolean;
}

export interface PrepareContext extends HookContext {
  readonly attempt: number;
  /** The conversation when the hook is asked. Frozen: it does not change later. */
  readonly messages: readonly Message[];
  readonly system: string | undefined;
  readonly tools: readonly Tool[];
  readonly model: string;
}

export interface ParseContext extends HookContext {
  /** As the runtime parsed it: `args` are `{}` where `problem` is set. */
  readonly call: ToolCallPart;
  /** What the model wrote. Where it is sound JSON: the text of the parsed arguments. */
  readonly text: string;
  /** `undefined`: the model was not shown a tool of this name. */
  readonly tool: Tool | undefined;
}

/** The arguments of the call: the message, the schema and the tool get these. */
export interface ParseVerdict extends HookVerdict {
  readonly args?: JsonObject;
}

/**
 * Why `decide` is asked: the answer has calls; it has none, and the run would end; it has calls, after which a limit is reached; or it has calls
 * of tools that are not enabled, and of no other.
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

/** What `decide` may change of an answer, beside what follows from it. */
export interface AnswerVerdict extends HookVerdict {
  /** This text takes the place of the whole answer, its calls included. What was streamed is withdrawn. */
  readonly answer?: string;
  /** Takes the place of what the vendor counted, and of its price. */
  readonly usage?: Usage;
  readonly cost?: Cost;
}

/** @see Decision for `stop`, `finish`, `continue`, `nudge` and `force` */
export type DecideVerdict =
  | (AnswerVerdict & { readonly action?: undefined })
  | (AnswerVerdict & Decision)
  /** Nothing of the answer is kept. With `again` the model is asked again, as often as `limits.attemptsMax`; else the run fails with ANSWER_WITHDRAWN. */
  | (AnswerVerdict & { readonly action: "retract"; readonly reason: string; readonly again?: boolean });

/** A verdict of a gate, with what every verdict may have. */
export type GateHookVerdict = GateVerdict & HookVerdict;

export interface GateContext extends HookContext {
  readonly call: ToolCallPart;
  /** All calls of the turn, in call order. */
  readonly calls: readonly ToolCallPart[];
  readonly tool: Tool;
  /** The tool or a gate before this one asks for a person's approval. */
  readonly isAsked: boolean;
  /** Decisions on earlier calls that hold for later ones: of the session, and of those that have started it. */
  readonly remembered: readonly RememberedDecision[];
}

export interface ReviewContext extends Omit<GateContext, "isAsked" | "remembered"> {
  readonly outcome: "ok" | "error";
  /** Text of what the model would see. */
  readonly output: string;
  /** What the tool spent by itself. */
  readonly usage: Usage | undefined;
  readonly cost: Cost | undefined;
}

export interface ReviewVerdict extends HookVerdict {
  /** What the model sees in place of the output. */
  readonly output?: ToolOutput;
  /** True: the call has failed, with `output` or the reason as what the model reads. */
  readonly fail?: boolean;
  /** The tool that the next model call must use. */
  readonly force?: string;
  /** Takes the place of what the tool spent. */
  readonly usage?: Usage;
  readonly cost?: Cost;
}

/** Which text a filter is asked about. */
export type FilterKind = "text" | "thinking" | "arguments" | "tool" | "progress";

/**
 * Filters the output of a model and of a server tool before it is recorded, published or sent: text, thinking, each string of a call's arguments, and of a tool its
 * deltas, each string of its output, `details` and `summary`, the words of its errors, and the titles of its progress.
 */
export interface StreamFilter {
  /**
   * Characters held back so that a pattern may span deltas: the longest match. Default 0. Each block, string and tool has a window of its own. A function is
   * asked how many characters at the end of the text in the window could be the beginning of a match, so that other text is shown at once; of a text
   * that no cut fits, at most 16 KiB of characters are then held back.
   */
  readonly holdBack?: number | { at(text: string): number }["at"];
  /**
   * The text to show instead. Asked about the raw text in the window, again and again as it grows, and not about what came before the window;
   * must leave its own output unchanged when asked again. A promise holds back what comes after it, for at most ten seconds; then the call fails.
   */
  apply?(text: string, context: FilterContext): Awaitable<string>;
  /** True: nothing of an answer is shown before `decide` has spoken; then it comes as a whole. An answer that is cut off shows nothing. */
  readonly holdTurn?: boolean;
}

export interface FilterContext
  extends Pick<HookContext, "sessionId" | "runId" | "turn" | "access" | "agent" | "signal" | "logger" | "resources"> {
  readonly kind: FilterKind;
  /** The tool whose arguments, output or progress it is. */
  readonly tool?: string;
  /** The key of the call whose output or progress it is. */
  readonly callKey?: string;
}

/** How a run ended. */
export interface RunEnd extends EndedRun {
  /** What the run added to the conversation, oldest first. */
  readonly messages: readonly Message[];
}

/** The beginning and the end of a run. */
export interface RunHooks {
  /** Before the run is recorded as started; also of a run that a hook has answered. */
  start?(context: Omit<HookContext, "child" | "spawn">): Answer<HookVerdict>;
  /**
   * Once the end of the run is recorded, by the process that recorded it; the run does not wait. It changes nothing. Not called where the process dies
   * right after the record.
   */
  end?(context: Omit<HookContext, "child" | "spawn" | "note"> & { readonly result: RunEnd }): Awaitable<void>;
}

/**
 * User code in a run. Several sets are asked in the order of the list, and each sees what the ones before it changed; `gate`: the first that denies
 * decides, also over one that asks. A hook that throws fails what it was asked for: the request (`accept`), the run (`run.start`, `prepare`, `decide`)
 * or the call (`parse`, `gate`, `review`), never retried and never as another's fault. What a verdict changed is recorded in the fact that it
 * concerns and published by the event `verdict`. A point without a hook costs nothing.
 */
export interface Hooks {
  /** 1 to 64 characters, unique in the agent. Verdicts, errors and logs carry it, and `context.state` is kept under it. */
  readonly name: string;
  /** True: asked in the runs of the agents that this one starts as children, too, and of those below them; after the hooks of their own. */
  readonly isInherited?: boolean;
  /** The agents that they start as children, so that each process which runs a child finds its agent. */
  readonly agents?: readonly ChildAgent<unknown>[];
  /**
   * Before a message is accepted, on the process that takes the request, at most 1.5 seconds; once for an idempotency key. Where it fails, nothing is
   * recorded.
   */
  accept?(context: AcceptContext): Answer<AcceptVerdict>;
  run?: RunHooks;
  /** Before each model call. */
  prepare?(context: PrepareContext): Answer<PrepareVerdict>;
  filter?: StreamFilter;
  /** After each model call that ended properly, for each of its calls, before the schema is asked. */
  parse?(context: ParseContext): Answer<ParseVerdict>;
  /** After each model call that ended properly; no answer: the calls decide. */
  decide?(context: DecideContext): Answer<DecideVerdict>;
  /** Before each tool, client tools included; for server tools after the arguments were validated. Not asked again once a person has allowed the call. */
  gate?(context: GateContext): Answer<GateHookVerdict>;
  /** After each server tool. */
  review?(context: ReviewContext): Answer<ReviewVerdict>;
}
