import { AgentError } from "@loopwright/core";
import type { ModelCapabilities, ModelRequest } from "@loopwright/core/ports";

type ReasoningEffort = NonNullable<NonNullable<ModelRequest["reasoning"]>["effort"]>;

/**
 * The model that is asked where none is named: the current one for agents' work, released on 2026-09-29.
 * @see https://developers.openai.com/api/docs/models/gpt-6.1-sol (2026-11-21)
 */
export const defaultModel = "gpt-6.1-sol";

/** What is known of a family of models. */
export interface OpenAiModel {
  /** It thinks before it answers: encrypted reasoning is asked for, and `temperature` is refused. */
  readonly reasoning: boolean;
  /** The smallest effort it knows, for `minimal`. */
  readonly minimalEffort?: "minimal" | "low";
  readonly vision: boolean;
  readonly contextTokens?: number;
  readonly outputTokensMax?: number;
}

/** Families by the start of the name; the first that fits counts. @see https://developers.openai.com/api/docs/models (2026-11-21) */
const families: readonly (readonly [RegExp, OpenAiModel])[] = [
  [/^gpt-5(\.\d+)?-chat/, { reasoning: false, vision: true, contextTokens: 128_000, outputTokensMax: 16_384 }],
  [/^gpt-6/, { reasoning: true, minimalEffort: "low", vision: true, contextTokens: 1_050_000, outputTokensMax: 128_000 }],
  [/^gpt-5\.[1-9]/, { reasoning: true, minimalEffort: "low", vision: true, contextTokens: 400_000, outputTokensMax: 128_000 }],
  [/^gpt-5/, { reasoning: true, minimalEffort: "minimal", vision: true, contextTokens: 400_000, outputTokensMax: 128_000 }],
  [/^gpt-4\.1/, { reasoning: false, vision: true, contextTokens: 1_047_576, outputTokensMax: 32_768 }],
  [/^(?:chat)?gpt-4o/, { reasoning: false, vision: true, contextTokens: 128_000, outputTokensMax: 16_384 }],
  [/^gpt-4-(?:turbo|vision|1106|0125)/, { reasoning: false, vision: true, contextTokens: 128_000, outputTokensMax: 4_096 }],
  [/^gpt-4/, { reasoning: false, vision: false, contextTokens: 8_192, outputTokensMax: 8_192 }],
  [/^gpt-3\.5/, { reasoning: false, vision: false, contextTokens: 16_385, outputTokensMax: 4_096 }],
  [
    /^(?:o1-mini|o1-preview|o3-mini)/,
    { reasoning: true, minimalEffort: "low", vision: false, contextTokens: 200_000, outputTokensMax: 100_000 },
  ],
  [/^o[134](?:-|$)/, { reasoning: true, minimalEffort: "low", vision: true, contextTokens: 200_000, outputTokensMax: 100_000 }],
  [/^codex-/, { reasoning: true, minimalEffort: "low", vision: true, contextTokens: 200_000, outputTokensMax: 100_000 }],
  [/^gpt-oss/, { reasoning: true, minimalEffort: "low", vision: false, contextTokens: 131_072, outputTokensMax: 131_072 }],
];

/** What is known of a model; `undefined` for one of another vendor. A vendor's prefix (`openai/gpt-5`) is overlooked. */
export function modelOf(name: string): OpenAiModel | undefined {
  const bare = name.slice(name.lastIndexOf("/") + 1).replace(/^ft:/, "");
  return families.find(([pattern]) => pattern.test(bare))?.[1];
}

/** An effort as the model names it. */
export function knownEffort(name: string, effort: ReasoningEffort): ReasoningEffort {
  return effort === "minimal" ? (modelOf(name)?.minimalEffort ?? effort) : effort;
}

/** @throws AgentError MODEL_UNSUPPORTED where the server takes no wish for reasoning, or the model is known not to reason. */
export function refuseReasoning({ model }: ModelRequest, isTakenByServer: boolean): void {
  if (isTakenByServer && modelOf(model)?.reasoning !== false) return;
  throw new AgentError("MODEL_UNSUPPORTED", {
    message: isTakenByServer
      ? `The request asks for reasoning, and the model ${model} does not reason.`
      : `The server of ${model} does not take options for reasoning.`,
    fix: "Leave `reasoning` out, choose a model that reasons, or ask in the server's own words by `vendorOptions`.",
  });
}

/** The capabilities of a model. `server` decides for models that are not in the table. */
export function capabilitiesOf(name: string, server: { readonly tools: boolean; readonly vision: boolean }): ModelCapabilities {
  const model = modelOf(name);
  return {
    streaming: true,
    tools: server.tools,
    vision: server.vision && (model?.vision ?? true),
    // What a server of another vendor takes is not known.
    ...(model ? { files: model.vision ? ["application/pdf"] : [] } : {}),
    promptCaching: true,
    ...(model?.contextTokens === undefined ? {} : { contextTokens: model.contextTokens }),
    ...(model?.outputTokensMax === undefined ? {} : { outputTokensMax: model.outputTokensMax }),
  };
}
