import type { ModelCapabilities } from "@loopwright/core/ports";

/**
 * How a model thinks. `always`: cannot be switched off, and then no tool call can be forced. `default`: on unless switched
 * off. `adaptive`: off unless asked for. `budget`: the older form with a number of tokens. `none`: it does not.
 */
export type ThinkingMode = "always" | "default" | "adaptive" | "budget" | "none";

/** What a request must know of a model. */
export interface AnthropicModel {
  readonly contextTokens?: number;
  readonly outputTokensMax: number;
  readonly thinking: ThinkingMode;
  /** Whether `temperature` is accepted; where it is not, any value but the default is answered with 400. */
  readonly sampling: boolean;
  /** Whether a `system` message may stand between other messages; false where the vendor does not document it. */
  readonly systemInHistory: boolean;
  /** The signature of its thinking is bound to all that stood before it: prompt, tools, messages. */
  readonly bindsThinking?: true;
}

/** The model of an instance that names none: the vendor's middle one. @see https://platform.claude.com/docs/en/models/overview (2026-11-21) */
export const defaultModel = "claude-sonnet-5-5";

const million = 1_000_000;
const latest = { contextTokens: million, outputTokensMax: 128_000, sampling: false } as const;
const always = { ...latest, thinking: "always", systemInHistory: true } as const;
const binding = { ...always, bindsThinking: true } as const;
const sixth = { contextTokens: million, outputTokensMax: 128_000, thinking: "adaptive", sampling: true, systemInHistory: false } as const;
const fifth = { contextTokens: 200_000, outputTokensMax: 64_000, thinking: "budget", sampling: true, systemInHistory: false } as const;
const third = { contextTokens: 200_000, outputTokensMax: 8_192, thinking: "none", sampling: true, systemInHistory: false } as const;

/**
 * By the beginning of the model's name; the longest one that fits counts.
 * @see https://platform.claude.com/docs/en/models/overview windows and output limits (2026-11-21)
 * @see https://platform.claude.com/docs/en/models/opus-5-5/whats-new-opus-5-5 thinking always on, no forced tools (2026-11-21)
 * @see https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages (2026-11-21)
 * @see https://platform.claude.com/docs/en/build-with-claude/preserved-thinking/prefix-checks models that bind thinking (2026-11-21)
 * Names below 4.5 are retired at the vendor and kept for servers that still speak for them.
 */
const models: { readonly [prefix: string]: AnthropicModel } = {
  "claude-fable-5-2": binding,
  "claude-fable-5-1": binding,
  "claude-fable-5": always,
  "claude-mythos-5-2": binding,
  "claude-mythos-5-1": binding,
  "claude-mythos-5": always,
  "claude-opus-5-5": binding,
  "claude-sonnet-5-5": binding,
  "claude-haiku-5-5": { ...latest, thinking: "default", systemInHistory: false, bindsThinking: true },
  "claude-opus-5": { ...latest, thinking: "default", systemInHistory: true },
  "claude-sonnet-5": { ...latest, thinking: "default", systemInHistory: false },
  "claude-opus-4-8": { ...latest, thinking: "adaptive", systemInHistory: true },
  "claude-opus-4-7": { ...latest, thinking: "adaptive", systemInHistory: false },
  "claude-opus-4-6": sixth,
  "claude-sonnet-4-6": sixth,
  "claude-opus-4-5": fifth,
  "claude-sonnet-4-5": fifth,
  "claude-haiku-4-5": fifth,
  "claude-opus-4": { ...fifth, outputTokensMax: 32_000 },
  "claude-sonnet-4": fifth,
  "claude-3-7-sonnet": fifth,
  "claude-3-5-sonnet": third,
  "claude-3-5-haiku": third,
  "claude-3": { ...third, outputTokensMax: 4_096 },
};

/** A name of the family that this table does not know yet: thinks and refuses sampling like all models since 4.7. */
const unknownClaude: AnthropicModel = { outputTokensMax: 64_000, thinking: "adaptive", sampling: false, systemInHistory: false };
/** A model of a compatible server. */
const unknownModel: AnthropicModel = { outputTokensMax: 8_192, thinking: "none", sampling: true, systemInHistory: false };

/** What is known of a model; careful guesses for a name that is not in the table. */
export function modelOf(name: string): AnthropicModel {
  const start = name.indexOf("claude-");
  if (start === -1) return unknownModel;
  let key = name.slice(start).replace(/[@:].*$/, "");
  while (key !== "") {
    const known = models[key];
    if (known) return known;
    key = key.slice(0, Math.max(0, key.lastIndexOf("-")));
  }
  return unknownClaude;
}

/** What the model can do, as the port asks for it. */
export function capabilitiesOf(name: string, overrides: Partial<ModelCapabilities> = {}): ModelCapabilities {
  const { contextTokens, outputTokensMax } = modelOf(name);
  return {
    streaming: true,
    tools: true,
    vision: true,
    promptCaching: true,
    files: ["application/pdf"],
    ...(contextTokens === undefined ? {} : { contextTokens }),
    outputTokensMax,
    ...overrides,
  };
}
