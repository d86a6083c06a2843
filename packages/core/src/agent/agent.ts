import { AgentError, isAgentError } from "../errors.ts";
import type { RunLimits } from "../loop/facts/run-limits.ts";
import type { ModelChain } from "../loop/retry/next-model-of-chain.ts";
import type { JsonObject } from "../message/json.ts";
import { shownId } from "../message/shown-id.ts";
import type { ContextEngine } from "../ports/context-engine.ts";
import type { ModelProvider, ModelRequest } from "../ports/model-provider.ts";
import type { PriceTable } from "../ports/price-table.ts";
import { reservedNames } from "../tools/define-tool.ts";
import type { StandardSchema } from "../tools/standard-schema.ts";
import type { FilesRoot, NeedsResources, Tool } from "../tools/tool.ts";
import { createToolRegistry } from "../tools/tool-registry.ts";
import { type CallDeadlines, checkedDeadlines, checkedLimits, type Invalid } from "./agent-limits.ts";
import { checkDataPolicy, type DataPolicy } from "./data-policy.ts";
import type { Hooks } from "./hooks.ts";
import { isModelRef, type ModelRef } from "./model-ref.ts";
import { type OutputSpec, outputSpec } from "./output-spec.ts";
import type { AgentPrompt } from "./prompt-layer.ts";

/** Everything of an agent but its model. */
export interface AgentSettings<Output = unknown, Resources = unknown> {
  /** `[a-zA-Z0-9][a-zA-Z0-9_-]{0,63}`. */
  readonly name: string;
  /** The system prompt, a function that builds it for each model call, or layers of both. */
  readonly prompt?: AgentPrompt;
  /** The type refuses a tool of `defineTools<Resources>()` if `resources` lacks what the tool needs. */
  readonly tools?: readonly (Tool & NeedsResources<Resources>)[];
  /** Limits of each run; see `RunLimits`. */
  readonly limits?: Partial<RunLimits>;
  /** Deadlines of each model call; see `CallDeadlines`. */
  readonly deadlines?: Partial<CallDeadlines>;
  /** Called in this order. */
  readonly hooks?: readonly Hooks[];
  /** Fits requests into the window of the model. Default: they are sent whole. */
  readonly context?: ContextEngine;
  /** Which parts of the agent's work are stored. Default: all. */
  readonly data?: DataPolicy;
  /** Sent only when set. */
  readonly temperature?: number;
  /** The most tokens of one answer. Sent only when set; if the vendor demands a limit, the default is the model's maximum. */
  readonly maxTokens?: number;
  /** How much the model is to reason, as an effort or a budget of tokens. Default: as the vendor does. */
  readonly reasoning?: NonNullable<ModelRequest["reasoning"]>;
  /** Default: as the vendor does. */
  readonly parallelToolCalls?: boolean;
  /**
   * The schema of the last answer of a run, which is JSON; `result.output` is the checked value. A run whose answer does not match fails with OUTPUT_INVALID.
   * Either a Standard Schema (zod 4.2 or later), or a JSON Schema with a name for the vendor.
   */
  readonly output?: StandardSchema<Output> | OutputSpec<Output>;
  /** Changes of the key's owner that a fallback chain may make. Default: none, so a chain stays with one owner. */
  readonly crossings?: NonNullable<ModelChain["crossings"]>;
  /** False: model calls are not streamed. */
  readonly stream?: boolean;
  /** Options of the vendor that have no field here. Merged into the body of each request, after all others. */
  readonly vendorOptions?: JsonObject;
  /** Prices of the usage. Default: no cost. */
  readonly prices?: PriceTable;
  /** Handed to tools as `context.resources`. */
  readonly resources?: Resources;
  /** Handed to tools as `context.files`. */
  readonly files?: FilesRoot;
}

/** One model or a fallback chain of models; or a provider, and the name of a model unless its default is meant. */
export type AgentModel =
  | { readonly model: ModelRef | readonly ModelRef[]; readonly provider?: never }
  | { readonly provider: ModelProvider; readonly model?: string };

export type AgentOptions<Output = unknown, Resources = unknown> = AgentSettings<Output, Resources> & AgentModel;

/** An agent: an immutable value that any number of sessions share. `Output`: the type of `result.output`. */
export interface Agent<Output = unknown> extends Omit<AgentSettings<Output>, "limits" | "deadlines" | "tools" | "hooks" | "output"> {
  /** The first link of the chain. */
  readonly provider: ModelProvider;
  readonly model: string;
  /** The fallback chain: at least one model. */
  readonly chain: readonly ModelRef[];
  readonly tools: readonly Tool[];
  readonly hooks: readonly Hooks[];
  readonly limits: RunLimits;
  readonly deadlines: CallDeadlines;
  readonly output?: OutputSpec<Output>;
}

const hookNameMax = 64;
const namePattern = /^[a-zA-Z0-9][a-zA-Z0-9_-]{0,63}$/;
/** Makes `resources` a required option if a tool needs them. */
type ResourcesNeeded<Resources> = unknown extends Resources ? unknown : { readonly resources: Resources };

/**
 * Checks the options. @throws AgentError CONFIG_INVALID when an option is missing or out of range.
 * @example createAgent({ name: "helper", model: openai("gpt-5"), prompt: "Be brief." })
 */
export function createAgent<Output = undefined, Resources = unknown>(
  options: AgentOptions<Output, Resources> & ResourcesNeeded<NoInfer<Resources>>,
): Agent<Output> {
  const name = options?.name;
  const invalid = (what: string, fix: string): AgentError =>
    new AgentError("CONFIG_INVALID", { message: `Agent \`${shownId(String(name))}\`: ${what}`, fix });
  if (typeof name !== "string" || !namePattern.test(name) || reservedNames.has(name))
    throw invalid("the name is not usable.", "Use 1 to 64 letters, digits, _ and -.");
  const chain = chainOf(options, invalid);
  const { provider, model } = chain[0];
  const limits = checkedLimits(name, options.limits, invalid);
  const deadlines = checkedDeadlines(name, options.deadlines, invalid);
  const { tools = [], hooks = [] } = options;
  if (!Array.isArray(tools)) throw invalid("`tools` is no list.", "Pass a list of tools.");
  const names = new Set<string>();
  for (const tool of tools as readonly (Tool | undefined)[]) {
    const toolName = tool?.name;
    if (toolName !== undefined && names.has(toolName))
      throw invalid(`two tools are named \`${shownId(String(toolName))}\`.`, "Give every tool a name of its own.");
    if (toolName !== undefined) names.add(toolName);
  }
  // Tools that a vendor refuses stop the program here, not in the first run.
  for (const vendor of new Set(chain.map((link) => link.provider))) checkTools(vendor, tools);
  checkHooks(hooks, invalid);
  if (options.data !== undefined) checkDataPolicy(options.data, invalid);
  const { output, ...rest }: AgentOptions<Output, Resources> = options;
  return Object.freeze({
    ...rest,
    ...(output === undefined ? {} : { output: outputSpec(output, invalid) }),
    provider,
    model,
    chain: Object.freeze(chain),
    tools: Object.freeze([...tools]),
    hooks: Object.freeze([...hooks]),
    limits: Object.freeze(limits),
    deadlines: Object.freeze(deadlines),
  });
}

/** @throws AgentError CONFIG_INVALID */
function chainOf(options: AgentModel & { readonly chain?: readonly ModelRef[] }, invalid: Invalid): readonly [ModelRef, ...ModelRef[]] {
  const { provider, model, chain } = options;
  const [first, ...others] = chain ?? [];
  // Options that were copied from an agent keep its chain.
  if (first && first.provider === provider && first.model === model) return [first, ...others];
  if (typeof model !== "string" && model !== undefined) {
    const [start, ...next]: readonly ModelRef[] = Array.isArray(model) ? model : [model];
    if (start && [start, ...next].every(isModelRef)) return [start, ...next];
    throw invalid(
      "`model` holds what is no model.",
      'Pass what a provider gives for a name, for example `openai("gpt-5")`, or a list of them.',
    );
  }
  if (typeof provider?.stream !== "function")
    throw invalid(
      "`model` or `provider` is missing.",
      'Pass `model: openai("gpt-5")`, or a `provider`, for example `openai()` of @loopwright/providers-openai.',
    );
  const named = model ?? provider.defaultModel;
  if (typeof named !== "string" || named === "") throw invalid("no model is named.", "Pass `model`; the provider has no default.");
  return [{ provider, model: named, keyOwner: "platform" }];
}

/** @throws AgentError CONFIG_INVALID */
function checkHooks(hooks: unknown, invalid: Invalid): void {
  if (!Array.isArray(hooks) || !hooks.every((one: unknown) => typeof one === "object" && one !== null))
    throw invalid("`hooks` is no list of objects.", "Pass a list of objects with hooks.");
  const names = new Set<unknown>();
  for (const { name } of hooks as readonly Partial<Hooks>[]) {
    if (typeof name !== "string" || name.trim() === "" || name.length > hookNameMax || reservedNames.has(name))
      throw invalid("hooks have no usable name.", `Give every set of hooks a \`name\` of 1 to ${hookNameMax} characters.`);
    if (names.has(name)) throw invalid(`two sets of hooks are named \`${shownId(name)}\`.`, "Give every set a name of its own.");
    names.add(name);
  }
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

/** True for an agent that `createAgent` returned. */
export function isAgent(value: unknown): value is Agent {
  const agent = value as Partial<Agent> | null | undefined;
  return (
    typeof agent?.provider?.stream === "function" && Array.isArray(agent.tools) && Array.isArray(agent.hooks) && agent.limits !== undefined
  );
}
