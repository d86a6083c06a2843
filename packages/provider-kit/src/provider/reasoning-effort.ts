import type { ModelRequest } from "@loopwright/core/ports";

/** What a request may say of reasoning. */
type Reasoning = NonNullable<ModelRequest["reasoning"]>;

/** Most tokens of a budget that is a low or a medium effort. */
const lowTokensMax = 1_024;
const mediumTokensMax = 8_192;

/** The effort of a wish for reasoning, for a vendor that knows levels only: a budget alone is the level nearest to it. `undefined` where the wish names neither. */
export function effortOf({ effort, budgetTokens }: Reasoning): Reasoning["effort"] {
  if (effort !== undefined || budgetTokens === undefined) return effort;
  return budgetTokens <= lowTokensMax ? "low" : budgetTokens <= mediumTokensMax ? "medium" : "high";
}
