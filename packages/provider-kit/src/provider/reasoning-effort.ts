import type { ModelRequest } from "@loopwright/core/ports";

/** The reasoning options of a request. */
type Reasoning = NonNullable<ModelRequest["reasoning"]>;

/** Most tokens of a budget that is a low or a medium effort. */
const lowTokensMax = 1_024;
const mediumTokensMax = 8_192;

/** The effort for a vendor that knows levels only: a budget without an effort becomes the nearest level. `undefined` when neither is given. */
export function effortOf({ effort, budgetTokens }: Reasoning): Reasoning["effort"] {
  if (effort !== undefined || budgetTokens === undefined) return effort;
  return budgetTokens <= lowTokensMax ? "low" : budgetTokens <= mediumTokensMax ? "medium" : "high";
}
