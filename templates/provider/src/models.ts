import type { ModelCapabilities } from "@loopwright/core/ports";

/** From the vendor's page of models. @see https://docs.acme.example/models (2026-11-21) */
const known: Readonly<Record<string, Partial<ModelCapabilities>>> = {
  "acme-2": { vision: true, contextTokens: 400_000, outputTokensMax: 32_000 },
  "acme-1": { contextTokens: 128_000, outputTokensMax: 8_000 },
};

export const defaultModel = "acme-2";

/** What a model can do; careful guesses for one that is not in the list. */
export function capabilitiesOf(model: string): ModelCapabilities {
  return { streaming: true, tools: true, vision: false, promptCaching: false, ...known[model] };
}
