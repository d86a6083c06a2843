import { AgentError } from "../../errors.ts";
import type { RunBudget } from "../../loop/fact.ts";
import type { Run } from "../../loop/state.ts";
import { tokensOf } from "../../message/usage.ts";

/**
 * What a child of the run may spend: what the run has left of its limits and of its own share, and at most what it is given; `undefined`: no limit.
 * @throws AgentError LIMIT_REACHED when nothing is left
 */
export function shareOf(run: Run, given: RunBudget = {}): RunBudget | undefined {
  const { limits, budget = {}, usage, cost } = run;
  const { accounts } = { ...budget, ...given };
  const tokensMax = leftOf("tokens", [limits.tokensMax, budget.tokensMax], { spent: tokensOf(usage), given: given.tokensMax });
  const costUsdMax = leftOf("costUsd", [limits.costUsdMax, budget.costUsdMax], { spent: cost?.totalUsd ?? 0, given: given.costUsdMax });
  const share = {
    ...(tokensMax === undefined ? {} : { tokensMax }),
    ...(costUsdMax === undefined ? {} : { costUsdMax }),
    ...(accounts ? { accounts } : {}),
  };
  return Object.keys(share).length > 0 ? share : undefined;
}

/** @throws AgentError LIMIT_REACHED */
function leftOf(
  which: string,
  limits: readonly (number | undefined)[],
  { spent, given }: { readonly spent: number; readonly given: number | undefined },
): number | undefined {
  const left = limits.filter((limit) => limit !== undefined && limit > 0).map((limit) => (limit ?? 0) - spent);
  if (left.some((one) => one <= 0)) throw usedUp(which);
  const all = given === undefined || given <= 0 ? left : [...left, given];
  return all.length > 0 ? Math.min(...all) : undefined;
}

const usedUp = (which: string): AgentError =>
  new AgentError("LIMIT_REACHED", {
    message: `No child was started: the run has used up its limit of \`${which}\`.`,
    fix: "Raise the limit of the agent, or answer with what there is.",
    retryable: false,
    details: { which },
  });
