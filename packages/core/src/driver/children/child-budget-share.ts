import { AgentError } from "../../errors.ts";
import { chargedTo } from "../../loop/children/background-children.ts";
import type { RunBudget } from "../../loop/fact.ts";
import type { QueuedInput, Run, State } from "../../loop/state.ts";
import { present } from "../../message/drop-undefined.ts";
import { tokensOf } from "../../message/usage.ts";

/** The child that needs a share of its run's budget. */
export interface ShareRequest {
  readonly given?: RunBudget | undefined;
  /** Absent: a hook starts the child. */
  readonly callKey?: string | undefined;
  /** True if the call starts this child alone, not one of several. */
  readonly isAlone: boolean;
}

/**
 * The budget of a new child, at most `given`; `undefined`: no limit. What the run has left, minus the shares of children that have not ended, is
 * divided among the calls of the turn that may still start a child, so that the run and all below it stay within the limit of the run.
 * @throws AgentError LIMIT_REACHED when nothing is left
 */
export function shareOf(run: Run, { given = {}, callKey, isAlone }: ShareRequest): RunBudget | undefined {
  const { limits, budget = {}, children = [] } = run;
  const charged = chargedTo(run);
  const { accounts } = { ...budget, ...given };
  const open = children.filter(({ isDone, background }) => !isDone && !background);
  const started = new Set(children.map((child) => child.callKey));
  const others = run.calls.filter(({ part, state }) => state !== "done" && part.callKey !== callKey && !started.has(part.callKey)).length;
  const parts = others + (isAlone ? 1 : 2);
  const tokensMax = partOf("tokens", [limits.tokensMax, budget.tokensMax], {
    ...{ given: given.tokensMax, parts, unit: tokenUnit },
    taken: sum([charged.tokens, ...open.map((child) => child.budget?.tokensMax ?? 0)]),
  });
  const costUsdMax = partOf("costUsd", [limits.costUsdMax, budget.costUsdMax], {
    ...{ given: given.costUsdMax, parts, unit: costUnit },
    taken: sum([charged.costUsd, ...open.map((child) => child.budget?.costUsdMax ?? 0)]),
  });
  const share = present({ tokensMax, costUsdMax, accounts });
  return Object.keys(share).length > 0 ? share : undefined;
}

/**
 * What the run of an input may spend of the share of its session: what earlier runs have left of it, without the shares of children in the background;
 * `undefined`: no limit. If nothing is left, the limit is one unit: no call fits into it, and 0 would mean no limit.
 */
export function shareLeft(
  { parent, usage, cost, background = [] }: State,
  { spent = {}, prepaid = {} }: QueuedInput,
): RunBudget | undefined {
  const { budget } = parent ?? {};
  if (!budget) return undefined;
  const { tokensMax = 0, costUsdMax = 0 } = budget;
  // The run counts `spent` itself. It does not count `prepaid`, which an earlier run has reserved.
  const tokens = tokensOf(usage) - tokensOf(spent.usage) + tokensOf(prepaid.usage);
  const costUsd = (cost?.totalUsd ?? 0) - (spent.cost?.totalUsd ?? 0) + (prepaid.cost?.totalUsd ?? 0);
  const promised = (of: "tokensMax" | "costUsdMax"): number => sum(background.map((child) => child.budget?.[of] ?? 0));
  return {
    ...budget,
    ...(tokensMax > 0 ? { tokensMax: Math.max(tokenUnit, tokensMax - tokens - promised("tokensMax")) } : {}),
    ...(costUsdMax > 0 ? { costUsdMax: Math.max(costUnit, costUsdMax - costUsd - promised("costUsdMax")) } : {}),
  };
}

const tokenUnit = 1;
const costUnit = 1e-9;

interface Part {
  /** Spent, or promised to children. */
  readonly taken: number;
  readonly given: number | undefined;
  readonly parts: number;
  /** The smallest amount that a child can be given. */
  readonly unit: number;
}

/** @throws AgentError LIMIT_REACHED */
function partOf(which: string, limits: readonly (number | undefined)[], { taken, given, parts, unit }: Part): number | undefined {
  const set = limits.filter((limit) => limit !== undefined && limit > 0).map((limit) => limit ?? 0);
  if (set.length === 0) return given !== undefined && given > 0 ? given : undefined;
  const part = Math.floor((Math.min(...set) - taken) / parts / unit) * unit;
  if (part < unit) throw usedUp(which);
  return given === undefined || given <= 0 ? part : Math.min(part, given);
}

const sum = (amounts: readonly number[]): number => amounts.reduce((total, amount) => total + amount, 0);

const usedUp = (which: string): AgentError =>
  new AgentError("LIMIT_REACHED", {
    message: `No child was started: the run and the children that it has started have used up its limit of \`${which}\`.`,
    fix: "Raise the limit of the agent, or answer without another child.",
    retryable: false,
    details: { which },
  });
