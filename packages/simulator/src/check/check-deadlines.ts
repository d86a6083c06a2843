import type { Fact } from "@loopwright/core";
import type { Claim } from "./finding.ts";

/** I10: no call expires before the deadline in the log. Checked only when all clocks are right. */
export function checkDeadlines(facts: readonly Fact[], claim: Claim): void {
  const deadlines = new Map<string, number>();
  for (const fact of facts) {
    if (fact.type === "approval.requested" && fact.deadline !== undefined) deadlines.set(fact.callKey, fact.deadline);
    if (fact.type === "client.requested" && fact.deadline !== undefined)
      for (const callKey of fact.callKeys) deadlines.set(callKey, fact.deadline);
    if (fact.type !== "tool.finished" || fact.outcome !== "expired") continue;
    const deadline = deadlines.get(fact.callKey) ?? 0;
    claim(fact.at >= deadline, "I10", () => `the call ${fact.callKey} expired ${deadline - fact.at} ms before its deadline`);
  }
}
