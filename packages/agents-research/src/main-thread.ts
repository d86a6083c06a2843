import { type Agent, type AgentModel, type AgentSettings, createAgent, type Hooks, type Tool } from "@loopwright/core";
import type { SessionTools } from "@loopwright/tools-registry";
import { type PlanOptions, planHooksWith } from "./plan-hooks.ts";
import { planWindows } from "./plan-windows.ts";
import { type PromptOptions, promptHooks } from "./prompt-hooks.ts";

/** What each kind of agent takes beside its model. */
export interface AgentKindOptions
  extends PlanOptions,
    PromptOptions,
    Pick<
      AgentSettings,
      "prompt" | "limits" | "deadlines" | "prices" | "resources" | "files" | "temperature" | "maxTokens" | "context" | "data"
    > {
  /** Default: of its kind. */
  readonly name?: string;
  /** Hooks in front of those of its kind. */
  readonly hooks?: readonly Hooks[];
}

export type MainThreadOptions = AgentKindOptions &
  AgentModel & {
    /** Tools, or a registry of tools for each session. Default: none. */
    readonly tools?: SessionTools | readonly Tool[];
  };

/** An agent that talks to the user: tools within the plan, the user's sections in its prompt, one final answer at the limit. */
export function mainThreadAgent(options: MainThreadOptions): Agent {
  const {
    tools = [],
    hooks = [],
    limits,
    name = "main-thread",
    settings,
    plans,
    toolCallsLimit,
    uncounted,
    parallelModels,
    fewShot,
    ...agent
  } = options;
  const { windows, context } = planWindows(options.context);
  const registry = "hooks" in tools ? tools : undefined;
  return createAgent({
    ...agent,
    ...(context ? { context } : {}),
    name,
    tools: registry ? registry.tools : (tools as readonly Tool[]),
    limits: { turnsMax: 50, ...limits },
    hooks: [
      ...hooks,
      ...(registry ? [registry.hooks] : []),
      planHooksWith({ settings, plans, toolCallsLimit, uncounted, parallelModels }, { ...(windows ? { windows } : {}) }),
      promptHooks({ settings, fewShot }),
      summaryOfResults,
      refusedTools,
    ],
  });
}

/** A model that calls nothing but tools that are not enabled for the user is answered for: the run ends with a text that names the first of them. */
const refusedTools: Hooks = {
  name: "refused-tools",
  decide: ({ reason, calls }) =>
    reason === "tools_disabled"
      ? { answer: `The tool ${calls[0]?.name} is not enabled for you.`, action: "finish", reason: "tools_disabled" }
      : undefined,
};

/** Tool results of one turn from which on the model is asked to draw them together. */
const manyResults = 3;

/** After a turn with many results, a notice for the next call alone: it does not stay in the history. */
const summaryOfResults: Hooks = {
  name: "summary-of-results",
  prepare({ messages }) {
    const answerAt = messages.findLastIndex(({ role }) => role === "assistant");
    const results = messages.slice(answerAt + 1).filter(({ role }) => role === "tool_result");
    if (answerAt === -1 || results.length < manyResults) return undefined;
    return { reminders: [`There are ${results.length} tool results. Draw them together before you continue.`] };
  },
};
