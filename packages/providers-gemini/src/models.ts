import type { ModelCapabilities } from "@loopwright/core/ports";

/** How much thinking is asked for: in levels, as a number of tokens, or not at all. */
export type ThinkingControl = "level" | "budget" | "none";

/** What a request must know of a model. */
export interface GeminiModel {
  readonly contextTokens?: number;
  readonly outputTokensMax?: number;
  readonly thinking: ThinkingControl;
  /** Whether the level `minimal` exists; elsewhere it is answered with 400. */
  readonly hasMinimal: boolean;
  /** Whether temperature has a meaning; where not, it is ignored by the vendor and not sent. */
  readonly sampling: boolean;
  /** Whether calls in the history must carry a thought signature. */
  readonly needsSignatures: boolean;
  /** Whether a tool result may hold images and files itself. */
  readonly mediaInResults: boolean;
}

/** The model of an instance that names none: the vendor's workhorse. @see https://ai.google.dev/gemini-api/docs/models (2026-11-21) */
export const defaultModel = "gemini-3.8-flash";

const window = { contextTokens: 1_048_576, outputTokensMax: 65_536 } as const;
const third = { ...window, thinking: "level", hasMinimal: false, sampling: true, needsSignatures: true, mediaInResults: true } as const;
const thirdMinimal = { ...third, hasMinimal: true } as const;
const second = { hasMinimal: false, sampling: true, needsSignatures: false, mediaInResults: false } as const;

/**
 * By the beginning of the model's name; the longest one that fits counts.
 * @see https://docs.cloud.google.com/gemini-enterprise-agent-platform/models/guides/gemini-3-8-flash windows, levels (2026-11-21)
 * @see https://docs.cloud.google.com/gemini-enterprise-agent-platform/models/guides/gemini-4-argon one window, levels (2026-11-21)
 * @see https://ai.google.dev/gemini-api/docs/thought-signatures (2026-11-21)
 */
const models: { readonly [prefix: string]: GeminiModel } = {
  "gemini-4": { ...third, sampling: false },
  "gemini-3": third,
  "gemini-3-flash": thirdMinimal,
  "gemini-3.1-flash": thirdMinimal,
  "gemini-3.5-flash": thirdMinimal,
  "gemini-2.5": { ...second, ...window, thinking: "budget" },
  "gemini-2.5-flash-image": { ...second, contextTokens: 65_536, outputTokensMax: 32_768, thinking: "none" },
  "gemini-2.0": { ...second, contextTokens: 1_048_576, outputTokensMax: 8_192, thinking: "none" },
  "gemini-1.5": { ...second, contextTokens: 1_048_576, outputTokensMax: 8_192, thinking: "none" },
};

/** A name of the family that this table does not know yet, `gemini-flash-latest` among them. */
const unknownGemini: GeminiModel = { ...third, sampling: true };
/** Gemma and whatever else speaks this wire. */
const unknownModel: GeminiModel = { ...second, thinking: "none" };

/** What is known of a model; careful guesses for a name that is not in the table. */
export function modelOf(name: string): GeminiModel {
  const plain = name.slice(name.lastIndexOf("/") + 1);
  let best = "";
  for (const prefix of Object.keys(models)) {
    if (prefix.length > best.length && plain.startsWith(prefix)) best = prefix;
  }
  return models[best] ?? (plain.startsWith("gemini-") ? unknownGemini : unknownModel);
}

/** What the model can do, as the port asks for it. The vendor caches prefixes by itself. */
export function capabilitiesOf(name: string, overrides: Partial<ModelCapabilities> = {}): ModelCapabilities {
  const { contextTokens, outputTokensMax } = modelOf(name);
  return {
    streaming: true,
    tools: true,
    vision: true,
    promptCaching: true,
    files: ["application/pdf", "image/*", "audio/*", "video/*"],
    ...(contextTokens === undefined ? {} : { contextTokens }),
    ...(outputTokensMax === undefined ? {} : { outputTokensMax }),
    ...overrides,
  };
}
