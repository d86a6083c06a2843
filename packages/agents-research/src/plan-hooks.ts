/*
 * Owns: how many tool calls the plan of the user leaves to a run, and what follows when they are used up.
 * Does not own: where plans come from (SettingsSource), the limits of the agent itself (core).
 */
import type { Hooks, PrepareContext, PrepareVerdict } from "@loopwright/core";
import type { PlanWindows } from "./plan-windows.ts";
import { defaultPlans, defaultSettings, type PlanTable, type SettingsSource } from "./user-settings.ts";

type Maybe<T> = { readonly [Name in keyof T]: T[Name] | undefined };

export interface PlanOptions {
  /** Default: everyone is on the plan `default`. */
  readonly settings?: SettingsSource;
  /** Default: `defaultPlans`. */
  readonly plans?: PlanTable;
  /** The limit of tool calls of a run, in place of the limit of the plan. 0: no limit. */
  readonly toolCallsLimit?: number;
  /** Tools whose calls do not count. */
  readonly uncounted?: readonly string[];
  /** Models that may always call tools in parallel, whatever the plan. */
  readonly parallelModels?: readonly string[];
}

/** What a model call gets once the limit is used up. */
export interface AtLimit {
  /** What `prepare` returns for each further model call, for example no tools. */
  verdict(context: PrepareContext): PrepareVerdict;
  /** Given once. */
  notice(limit: number): string;
  /** Tools that may still be called. */
  readonly allowed: readonly string[];
}

/** No tools, and one notice that names the limit. */
const answerAtLimit: AtLimit = {
  verdict: () => ({ tools: [] }),
  notice: (limit) => `You have used the ${limit} tool calls of this request. Write your final answer now with what you have found.`,
  allowed: [],
};

/** Counts tool calls against the limit of the plan. If the model calls tools after the notice, the run stops, and the text of that answer is kept. */
export function planHooks(options: Partial<Maybe<PlanOptions>>, atLimit: AtLimit = answerAtLimit): Hooks {
  return planHooksWith(options, { atLimit });
}

interface PlanParts {
  readonly atLimit?: AtLimit | undefined;
  /** Learns the context limit of each run. */
  readonly windows?: PlanWindows;
}

/** The same, for an agent whose requests keep within the context limit of the plan. */
export function planHooksWith(options: Partial<Maybe<PlanOptions>>, { atLimit = answerAtLimit, windows }: PlanParts): Hooks {
  const { settings = defaultSettings, plans = defaultPlans, uncounted = [], parallelModels = [], toolCallsLimit } = options;
  return {
    name: "plan",
    ...(windows ? { run: { end: ({ runId }) => windows.delete(runId) } } : {}),
    async prepare(context) {
      const { access, labels, model, agent, state, runId } = context;
      const { plan } = await settings.settingsOf(access, labels);
      const limits = plans(plan, model, agent);
      windows?.set(runId, limits.contextLimit);
      const limit = toolCallsLimit ?? limits.toolCallsLimit;
      const verdict: PrepareVerdict = { parallelToolCalls: limits.parallel || parallelModels.includes(model) };
      const wantsTools = labels["toolsRequired"] !== "false";
      if (!wantsTools) return { ...verdict, tools: [] };
      if (limit === 0 || Number(state["toolCalls"] ?? 0) < limit) return verdict;
      const announcing = state["announced"] === true ? {} : { notices: [atLimit.notice(limit)], state: { announced: true } };
      return { ...verdict, ...announcing, ...atLimit.verdict(context) };
    },
    decide({ calls, state }) {
      if (calls.length === 0) return undefined;
      const toolCalls = Number(state["toolCalls"] ?? 0) + calls.filter(({ name }) => !uncounted.includes(name)).length;
      const isOver = state["announced"] === true && !calls.some(({ name }) => atLimit.allowed.includes(name));
      return isOver ? { action: "stop", reason: "plan", state: { toolCalls } } : { state: { toolCalls } };
    },
  };
}
