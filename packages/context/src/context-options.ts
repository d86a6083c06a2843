import { AgentError, type Message } from "@loopwright/core";
import type { ContextCall, ModelProvider } from "@loopwright/core/ports";

/** The shares of the window that sources may have, from 0 to 1. */
export interface ContextBudgets {
  /** Tool results of more than 2,000 characters, in all. Default 1: what the rest leaves. */
  readonly results?: number;
  /** Images and files of earlier inputs, in all. Default 0.5. */
  readonly attachments?: number;
  /** The parts of the system prompt that only this session has; the longest are cut. Stable parts are never cut. Default 0.5. */
  readonly system?: number;
  /** Descriptions and schemas of tools; the longest descriptions are cut. Default 0.5. */
  readonly tools?: number;
  /** Examples that hooks put in front; those that do not fit are left out whole, the last ones first. Default 0.25. */
  readonly examples?: number;
}

/** How the older part of a history is replaced by a summary, once cutting is not enough. */
export interface CompactionOptions {
  /** How full the room must be, as a share of it. Default 0.9. */
  readonly at?: number;
  /** True for messages that are kept unchanged: inputs, and answers without calls. They may have a quarter of the room; the newest are kept. */
  readonly pin?: (message: Message) => boolean;
  /** The model that writes summaries; `true`: the agent's own. Default: none, and the summary is an extract, one line for each input and answer. */
  readonly summary?: true | SummaryOptions;
}

/** The model that writes summaries. */
export interface SummaryOptions {
  /** Default: the agent's. */
  readonly provider?: ModelProvider;
  /** Default: the provider's default, or the agent's model. */
  readonly model?: string;
  /** Tokens of a summary at most. Default 1,000. */
  readonly tokensMax?: number;
}

export interface ContextEngineOptions {
  /**
   * Tokens that a request may have, for example by the caller's plan. Default, and at most: the window of the model. `undefined` for a call: the window.
   */
  readonly limitTokens?: number | ((call: ContextCall) => number | undefined);
  readonly budgets?: ContextBudgets;
  /** False: nothing is compacted, and a history that cannot be cut to fit fails with CONTEXT_OVERFLOW. */
  readonly compaction?: false | CompactionOptions;
}

/** The options of compactions, complete. */
export interface CompactOptions {
  readonly at: number;
  readonly pin: (message: Message) => boolean;
  readonly summary: (SummaryOptions & { readonly tokensMax: number }) | undefined;
}

/** The options, complete. */
export interface CheckedOptions {
  readonly limitOf: (call: ContextCall) => number | undefined;
  readonly budgets: Required<ContextBudgets>;
  readonly compaction: CompactOptions | undefined;
}

const defaultBudgets: Required<ContextBudgets> = { results: 1, attachments: 0.5, system: 0.5, tools: 0.5, examples: 0.25 };
const compactAt = 0.9;
const summaryTokens = 1_000;
const optionNames = new Set(["limitTokens", "budgets", "compaction"]);

/** @throws AgentError CONFIG_INVALID */
export function checkedOptions(options: ContextEngineOptions): CheckedOptions {
  const unknown = Object.keys(options).find((name) => !optionNames.has(name));
  if (unknown !== undefined) throw invalid(`\`${unknown}\` is no option.`, `Its options are ${[...optionNames].join(", ")}.`);
  const budgets = { ...defaultBudgets, ...options.budgets };
  for (const [name, share] of Object.entries(budgets)) {
    if (!(name in defaultBudgets))
      throw invalid(`\`budgets.${name}\` is no source.`, `Sources are ${Object.keys(defaultBudgets).join(", ")}.`);
    if (!(share > 0 && share <= 1)) throw invalid(`\`budgets.${name}\` is ${share}.`, "Pass a share of the window over 0 and at most 1.");
  }
  const { limitTokens } = options;
  if (limitTokens !== undefined && typeof limitTokens !== "function" && !(typeof limitTokens === "number" && limitTokens > 0))
    throw invalid("`limitTokens` is not positive.", "Pass a number of tokens.");
  const limitOf = typeof limitTokens === "function" ? soundLimit(limitTokens) : () => limitTokens;
  return { limitOf, budgets, compaction: options.compaction === false ? undefined : compactOptions(options.compaction) };
}

function compactOptions({ at = compactAt, pin = () => false, summary }: CompactionOptions = {}): CompactOptions {
  if (!(at > 0 && at <= 1)) throw invalid(`\`compaction.at\` is ${at}.`, "Pass a share of the room over 0 and at most 1.");
  return {
    at,
    pin: (message) => asked("compaction.pin", () => pin(message)),
    summary: summary === undefined ? undefined : { tokensMax: summaryTokens, ...(summary === true ? {} : summary) },
  };
}

/** The application's limit of a call. @throws AgentError HOOK_FAILED */
const soundLimit =
  (limitTokens: (call: ContextCall) => number | undefined): CheckedOptions["limitOf"] =>
  (call) => {
    const limit = asked("limitTokens", () => limitTokens(call));
    if (limit === undefined || (typeof limit === "number" && limit >= 0)) return limit;
    throw failed("limitTokens", `gave ${String(limit)}, which is no number of tokens`);
  };

function asked<Answer>(name: string, ask: () => Answer): Answer {
  try {
    return ask();
  } catch (error) {
    throw failed(name, "threw an error", error);
  }
}

const failed = (name: string, how: string, cause?: unknown): AgentError =>
  new AgentError("HOOK_FAILED", { message: `The function \`${name}\` of the context engine ${how}.`, retryable: false, cause });

const invalid = (what: string, fix: string): AgentError =>
  new AgentError("CONFIG_INVALID", { message: `The context engine: ${what}`, fix });
