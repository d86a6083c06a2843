import type { Fact } from "@loopwright/core";

/** The sessions that were started in the background. */
export const backgroundIn = (facts: readonly Fact[]): ReadonlySet<string> =>
  new Set(facts.flatMap((fact) => (fact.type === "child.linked" && fact.background ? fact.session : [])));
