import type { Usage } from "@loopwright/core/protocol";
import { describe, expect, it } from "vitest";
import { type TokenUsage, tokenUsage } from "./token-usage.ts";

describe("A39: token usage", () => {
  /** As the decoders of the vendors give it: `chunk-decoder.test.ts` of Anthropic, `usage.test.ts` of OpenAI. */
  const golden: readonly (readonly [vendor: string, Usage, TokenUsage])[] = [
    [
      "Anthropic, which counts what was cached beside the rest",
      { input: 3, cacheRead: 900, cacheWrite: 40, output: 7, reasoning: 2 },
      { PromptTokens: 943, CachedPromptTokens: 900, OutputTokens: 7, CacheCreationTokens: 40 },
    ],
    [
      "OpenAI, whose prompt count of 1,000 holds the cached tokens",
      { input: 60, cacheRead: 900, cacheWrite: 40, output: 20, total: 1_020 },
      { PromptTokens: 1_000, CachedPromptTokens: 900, OutputTokens: 20, CacheCreationTokens: 40 },
    ],
    [
      "OpenAI without a word on the cache",
      { input: 5, output: 3, reasoning: 2 },
      { PromptTokens: 5, CachedPromptTokens: 0, OutputTokens: 3 },
    ],
    ["a vendor that reports a read cache alone", { input: 6, cacheRead: 4 }, { PromptTokens: 10, CachedPromptTokens: 4, OutputTokens: 0 }],
    [
      "an answer that was cut before its prompt was counted",
      { output: 12, source: "estimated" },
      { PromptTokens: 0, CachedPromptTokens: 0, OutputTokens: 12 },
    ],
  ];

  it.each(golden)("A39: of %s", (_, usage, expected) => {
    expect(tokenUsage(usage)).toEqual(expected);
    expect(Object.keys(tokenUsage(usage) ?? {})).toEqual(Object.keys(expected));
  });

  it("A39: is unknown where a vendor reported nothing, and never 0", () => {
    for (const usage of [undefined, {}, { total: 4 }, { source: "estimated" as const }]) expect(tokenUsage(usage)).toBeUndefined();
  });
});
