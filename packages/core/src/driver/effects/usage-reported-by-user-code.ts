import type { Expense } from "../../loop/fact.ts";
import { addSpent, type Cost, type SpentUsage, soundUsage, type Usage } from "../../message/usage.ts";
import { costOf, type Pricing, soundCost } from "./cost-of-usage.ts";
import { andThen, type SyncOrAsync } from "./sync-or-async.ts";

/** Collects the usage that user code reports. */
export class SpentAccount {
  readonly #spent: SpentUsage[] = [];

  /** False if the usage has no plausible count; it is then ignored. */
  add(spent: SpentUsage): boolean {
    const isSound = soundUsage(spent) !== undefined;
    if (isSound) this.#spent.push(spent);
    return isSound;
  }

  /** One sum for each model, and one for usage without a model; synchronous if no price table is called. */
  expenses(pricing: Pricing, at: number): SyncOrAsync<readonly Expense[]> {
    let sums: SyncOrAsync<readonly Expense[]> = [];
    for (const spent of this.#spent) {
      const priced = priceOf(spent, pricing, at);
      sums = andThen(sums, (before) => andThen(priced, (cost) => withExpense(before, spent, cost)));
    }
    return sums;
  }
}

function priceOf({ provider, model, cost, ...counts }: SpentUsage, pricing: Pricing, at: number): SyncOrAsync<Cost | undefined> {
  const known = soundCost(cost);
  if (known || !pricing.prices || provider === undefined || model === undefined) return known;
  return costOf(pricing, { provider, model, usage: soundUsage(counts) as Usage, at });
}

function withExpense(
  expenses: readonly Expense[],
  { provider, model, cost: _, ...counts }: SpentUsage,
  price: Cost | undefined,
): readonly Expense[] {
  const usage = soundUsage(counts) as Usage;
  const index = expenses.findIndex((one) => one.provider === provider && one.model === model);
  const before = expenses[index];
  const named = { ...(provider === undefined ? {} : { provider }), ...(model === undefined ? {} : { model }) };
  const expense: Expense = { usage, ...addSpent(before ?? {}, { usage, cost: price }), ...named };
  return before ? expenses.with(index, expense) : [...expenses, expense];
}
