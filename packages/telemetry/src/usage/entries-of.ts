import type { Cost, Fact, KeyOwner, SessionRef, Usage } from "@loopwright/core";
import type { UsageEntry } from "./usage-entry.ts";

/** What the entries of a run have in common. */
export interface RunParties {
  readonly user: string;
  readonly agent: string;
}

/** The model that the last attempt of a run called. */
export interface CalledModel {
  readonly provider: string;
  readonly model: string;
  readonly keyOwner?: KeyOwner;
}

interface Spent {
  readonly usage?: Usage;
  readonly cost?: Cost;
  readonly provider?: string;
  readonly model?: string;
  readonly keyOwner?: KeyOwner;
}

/**
 * What a fact has spent. The usage of a child is in the child's own log, so the fact of its end gives nothing here. What is spent without a model
 * counts under the name of the tools that spent it.
 */
export function entriesOf(fact: Fact, ref: SessionRef, { user, agent, ...called }: RunParties & CalledModel): readonly UsageEntry[] {
  return spentBy(fact, called).flatMap((spent, place): readonly UsageEntry[] => {
    const { usage, cost } = spent;
    if (!usage && !cost) return [];
    return [
      {
        id: `${ref.scope}/${ref.session}/${fact.seq}.${place}`,
        at: fact.at,
        scope: ref.scope,
        user,
        agent,
        provider: spent.provider ?? "",
        model: spent.model ?? usage?.tools?.join(", ") ?? "",
        input: usage?.input ?? 0,
        cacheRead: usage?.cacheRead ?? 0,
        cacheWrite: usage?.cacheWrite ?? 0,
        output: usage?.output ?? 0,
        ...(spent.keyOwner === undefined || spent.keyOwner === "platform" ? {} : { keyOwner: spent.keyOwner }),
        ...(cost ? { costNanos: Math.round(cost.totalUsd * 1e9) } : {}),
      },
    ];
  });
}

function spentBy(fact: Fact, called: CalledModel): readonly Spent[] {
  const others = "expenses" in fact ? (fact.expenses ?? []) : [];
  if (fact.type === "child.finished") return others;
  if (!("usage" in fact) && !("cost" in fact)) return others;
  const { usage, cost } = fact as Spent;
  const own: Spent = { ...(usage ? { usage } : {}), ...(cost ? { cost } : {}) };
  const { provider, model, keyOwner } = called;
  const owner = keyOwner === undefined ? {} : { keyOwner };
  if (fact.type === "model.finished" || fact.type === "model.failed") return [{ ...own, provider, model, ...owner }, ...others];
  if (fact.type === "summary.failed") return [{ ...own, provider: fact.provider, model: fact.model, ...owner }, ...others];
  if (fact.type === "context.compacted") return [{ ...own, provider, model: fact.model ?? model, ...owner }, ...others];
  return [own, ...others];
}
