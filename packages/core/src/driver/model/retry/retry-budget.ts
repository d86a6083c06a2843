import type { CallGuardLimits } from "./call-guard-limits.ts";

/** Limits the retries of a process: at most `retryShare` of its calls plus `retriesSpare`, counted over the last `budgetMs`. */
export interface RetryBudget {
  /** Counts a call that is not a retry. */
  called(nowMs: number): void;
  /** Takes one retry out of the budget. False if the budget is spent. */
  take(nowMs: number): boolean;
}

/** The counting window consists of this many steps, and moves by one step at a time. */
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
