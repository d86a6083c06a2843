import { AgentError, isAgentError } from "../errors.ts";
import type { Access } from "../loop/fact.ts";
import { defaultLimits, type RunLimits } from "../loop/policy.ts";
import type { JsonObject, JsonSchema } from "../message/json.ts";
import type { Message } from "../message/message.ts";
import { shownId } from "../message/shown-id.ts";
import type { ModelProvider, ModelRequest } from "../ports/model-provider.ts";
import type { PriceTable } from "../ports/price-table.ts";
import { reservedNames } from "../tools/define-tool.ts";
import type { FilesRoot, Tool } from "../tools/tool.ts";
import { createToolRegistry } from "../tools/tool-registry.ts";
import { refuseUnknownOptions } from "../unknown-options.ts";
import type { Hooks } from "./hooks.ts";

/** What the system prompt may depend on. */
export interface PromptContext {
  readonly access: Access;
  readonly sessionId: string;
  readonly turn: number;
  /** The conversation when the prompt is asked for. Frozen: it does not change later. */
  readonly messages: readonly Message[];
  /** As the input named them. */
  readonly activeModule?: string;
  readonly surface?: string;
}

/** Deadlines of one model call, in milliseconds. */
export interface CallDeadlines {
  /** Until the first sign of life. Default 60,000. */
  readonly firstByteMs: number;
  /** Between two pieces of content. Default 60,000; pings alone count for 300,000. */
  readonly idleMs: number;
  /** Of the whole call. Default 900,000. */
  readonly totalMs: number;
}

export interface AgentOptions {
  /** `[a-zA-Z0-9][a-zA-Z0-9_-]{0,63}`. */
  readonly name: string;
  readonly provider: ModelProvider;
  /** Default: the provider's default model. */
  readonly model?: string;
  /** The system prompt, or what builds it for each model call. */
  readonly prompt?: string | ((context: PromptContext) => string | Promise<string>);
  readonly tools?: readonly Tool[];
  readonly limits?: Partial<RunLimits>;
  readonly deadlines?: Partial<CallDeadlines>;
  /** Asked in this order. */
  readonly hooks?: readonly Hooks[];
  readonly temperature?: number;
  readonly maxTokens?: number;
  readonly reasoning?: NonNullable<ModelRequest["reasoning"]>;
  /** Default true where there are tools. */
  readonly parallelToolCalls?: boolean;
  /** Answers are JSON of this schema. */
  readonly output?: { readonly name: string; readonly schema: JsonSchema };
  /** False: model calls are not streamed. */
  readonly stream?: boolean;
  readonly vendorOptions?: JsonObject;
  readonly prices?: PriceTable;
  /** Handed to tools as `context.resources`. */
  readonly resources?: unknown;
  /** Handed to tools as `context.files`. */
  readonly files?: FilesRoot;
}

/** An agent: an immutable value that any number of sessions share. */
export interface Agent extends Omit<AgentOptions, "limits" | "deadlines" | "tools" | "hooks"> {
  readonly model: string;
  readonly tools: readonly Tool[];
  readonly hooks: readonly Hooks[];
  readonly limits: RunLimits;
  readonly deadlines: CallDeadlines;
}

const namePattern = /^[a-zA-Z0-9][a-zA-Z0-9_-]{0,63}$/;
const defaultDeadlines: CallDeadlines = { firstByteMs: 60_000, idleMs: 60_000, totalMs: 900_000 };

const knownLimits: { readonly [Name in keyof RunLimits]: true } = {
  turnsMax: true,
  toolCallsMax: true,
  onLimit: true,
  attemptsMax: true,
  toolAttemptsMax: true,
  parallelMax: true,
  abortGraceMs: true,
};
const knownDeadlines: { readonly [Name in keyof CallDeadlines]: true } = { firstByteMs: true, idleMs: true, totalMs: true };

/** Longer waits of a timer fire at once. */
const deadlineMaxMs = 2 ** 31 - 1;

/** The agent, checked. @throws AgentError CONFIG_INVALID when an option is missing or out of range. */
export function createAgent(options: AgentOptions): Agent {
  const invalid = (what: string, fix: string): AgentError =>
    new AgentError("CONFIG_INVALID", { message: `Agent \`${shownId(String(options?.name))}\`: ${what}`, fix });
  if (typeof options?.name !== "string" || !namePattern.test(options.name) || reservedNames.has(options.name))
    throw invalid("the name is not usable.", "Use 1 to 64 letters, digits, _ and -.");
  if (typeof options.provider?.stream !== "function")
    throw invalid("`provider` is missing.", "Pass a provider, for example `openai()` of @loopwright/providers-openai.");
  refuseUnknownOptions(options.limits ?? {}, knownLimits, `\`limits\` of the agent \`${options.name}\``);
  refuseUnknownOptions(options.deadlines ?? {}, knownDeadlines, `\`deadlines\` of the agent \`${options.name}\``);
  const limits = { ...defaultLimits, ...options.limits };
  if (!["finalize", "stop", "error"].includes(limits.onLimit))
    throw invalid(`\`limits.onLimit\` is ${shownId(String(limits.onLimit))}.`, "Use `finalize`, `stop` or `error`.");
  for (const [name, least] of Object.entries({
    turnsMax: 1,
    toolCallsMax: 0,
    attemptsMax: 1,
    toolAttemptsMax: 1,
    parallelMax: 1,
    abortGraceMs: 0,
  })) {
    const value = limits[name as "turnsMax"];
    if (!Number.isInteger(value) || value < least)
      throw invalid(`\`limits.${name}\` is ${shownId(String(value))}.`, `Use a whole number from ${least} on.`);
  }
  const deadlines = { ...defaultDeadlines, ...options.deadlines };
  for (const [name, value] of Object.entries(deadlines)) {
    if (!(value > 0 && value <= deadlineMaxMs))
      throw invalid(`\`deadlines.${name}\` is ${shownId(String(value))}.`, `Use 1 to ${deadlineMaxMs}.`);
  }
  const { tools = [], hooks = [] } = options;
  if (!Array.isArray(tools)) throw invalid("`tools` is no list.", "Pass a list of tools.");
  const names = new Set<string>();
  for (const tool of tools as readonly (Tool | undefined)[]) {
    const name = tool?.name;
    if (name !== undefined && names.has(name))
      throw invalid(`two tools are named \`${shownId(String(name))}\`.`, "Give every tool a name of its own.");
    if (name !== undefined) names.add(name);
  }
  // What no model could be shown stops the program here, not the first run.
  checkTools(options.provider, tools);
  if (!Array.isArray(hooks) || !(hooks as readonly unknown[]).every((one) => typeof one === "object" && one !== null))
    throw invalid("`hooks` is no list of objects.", "Pass a list of objects with hooks.");
  const model = options.model ?? options.provider.defaultModel;
  if (typeof model !== "string" || model === "") throw invalid("no model is named.", "Pass `model`; the provider has no default.");
  return Object.freeze({
    ...options,
    model,
    tools: Object.freeze([...tools]),
    hooks: Object.freeze([...hooks]),
    limits: Object.freeze(limits),
    deadlines: Object.freeze(deadlines),
  });
}

/** @throws AgentError CONFIG_INVALID */
function checkTools(provider: ModelProvider, tools: readonly Tool[]): void {
  const specs = createToolRegistry(tools).specs();
  try {
    provider.checkTools?.(specs);
  } catch (cause) {
    if (isAgentError(cause)) throw cause;
    const message = `The tools could not be checked by the provider \`${provider.name}\`.`;
    throw new AgentError("CONFIG_INVALID", { message, fix: "See the cause; its `checkTools` failed.", cause });
  }
}

/** True for what `createAgent` gives. */
export function isAgent(value: unknown): value is Agent {
  const agent = value as Partial<Agent> | null | undefined;
  return (
    typeof agent?.provider?.stream === "function" && Array.isArray(agent.tools) && Array.isArray(agent.hooks) && agent.limits !== undefined
  );
}
