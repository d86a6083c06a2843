import { describe, expect, it } from "vitest";
import { createRetryBudget } from "./retry-budget.ts";

const limits = { retryShare: 0.1, retriesSpare: 10, budgetMs: 600_000 };

describe("a retry budget", () => {
  it("gives ten retries and one more for every ten calls", () => {
    const budget = createRetryBudget(limits);
    for (let call = 0; call < 200; call++) budget.called(call);
    let taken = 0;
    while (budget.take(1_000)) taken++;
    expect(taken).toBe(30);
    for (let call = 0; call < 10; call++) budget.called(2_000);
    expect([budget.take(2_000), budget.take(2_000)]).toEqual([true, false]);
  });

  it("hoards nothing of a calm hour, and forgives after ten minutes", () => {
    const budget = createRetryBudget(limits);
    for (let call = 0; call < 10_000; call++) budget.called(call);
    let taken = 0;
    while (budget.take(3_600_000)) taken++;
    expect(taken).toBe(10);
    expect(budget.take(3_600_000 + 300_000)).toBe(false);
    expect(budget.take(3_600_000 + 600_000)).toBe(true);
  });
});
