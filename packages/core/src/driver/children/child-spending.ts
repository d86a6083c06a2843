import { allSpent } from "../../message/usage.ts";
import type { ChildSpending } from "../setup/session-deps.ts";

export const addedUp = (all: readonly ChildSpending[]): ChildSpending => ({
  ...allSpent(all),
  toolCallCount: all.reduce((sum, { toolCallCount }) => sum + toolCallCount, 0),
});

/** The spending of a child that has not ended, marked as an estimate. */
export const estimated = ({ usage, cost, toolCallCount }: ChildSpending): ChildSpending => ({
  toolCallCount,
  ...(usage ? { usage: { ...usage, source: "estimated" } } : {}),
  ...(cost ? { cost: { ...cost, partial: true } } : {}),
});
