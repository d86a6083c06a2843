import type { CallGuardLimits } from "./call-guard-limits.ts";

/** How many failed calls of a process may be made again: a share of its calls and a few more, counted over the last minutes. */
export interface RetryBudget {
  /** A call was made that is not a retry. */
  called(nowMs: number): void;
  /** Takes one retry out of the budget; false where it is spent. */
  take(nowMs: number): boolean;
}

/** The window moves in steps of a tenth. */
const stepCount = 10;

interface Step {
  index: number;
  calls: number;
  retries: number;
}

export function createRetryBudget({
  retryShare,
  retriesSpare,
  budgetMs,
}: Pick<CallGuardLimits, "retryShare" | "retriesSpare" | "budgetMs">): RetryBudget {
  const steps: Step[] = Array.from({ length: stepCount }, () => ({ index: -1, calls: 0, retries: 0 }));
  const stepMs = budgetMs / stepCount;

  const stepAt = (nowMs: number): Step => {
    const index = Math.floor(nowMs / stepMs);
    const step = steps[index % stepCount] as Step;
    if (step.index !== index) Object.assign(step, { index, calls: 0, retries: 0 });
    return step;
  };

  return {
    called(nowMs) {
      stepAt(nowMs).calls++;
    },
    take(nowMs) {
      const current = stepAt(nowMs);
      let calls = 0;
      let retries = 0;
      for (const step of steps) {
        if (step.index <= current.index - stepCount) continue;
        calls += step.calls;
        retries += step.retries;
      }
      if (retries + 1 > retryShare * calls + retriesSpare) return false;
      current.retries++;
      return true;
    },
  };
}
