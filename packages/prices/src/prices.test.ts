import type { Usage } from "@loopwright/core";
import { describe, expect, it } from "vitest";
import { isSameModel } from "./matched-model.ts";
import { type PricesOptions, prices } from "./prices.ts";

const at = Date.UTC(2026, 10, 21);
const cost = (provider: string, model: string, usage: Usage, options?: PricesOptions) =>
  prices(options).costOf({ provider, model, usage, at });

describe("prices", () => {
  // Dollars per million tokens, read from the data by hand: Sonnet 4.5 reads at 3, from the cache at 0.3, into it at 3.75, writes at 15.
  it.each<[string, string, Usage, number]>([
    ["anthropic", "claude-sonnet-4-5", { input: 1_000, output: 200 }, (1_000 * 3 + 200 * 15) / 1e6],
    [
      "anthropic",
      "claude-sonnet-4-5-20250929",
      { input: 1_000, cacheRead: 500, cacheWrite: 100, output: 200 },
      (1_000 * 3 + 500 * 0.3 + 100 * 3.75 + 200 * 15) / 1e6,
    ],
    ["openai", "gpt-4o", { input: 1_000, cacheRead: 500, output: 10 }, (1_000 * 2.5 + 500 * 1.25 + 10 * 10) / 1e6],
    ["gemini", "gemini-3.8-flash", { input: 2_000, cacheRead: 1_000, output: 300 }, (2_000 * 0.75 + 1_000 * 0.075 + 300 * 3.75) / 1e6],
    // Over 200,000 tokens everything read and written has the higher price.
    [
      "gemini",
      "gemini-2.5-pro",
      { input: 200_000, cacheRead: 100_000, output: 1_000 },
      (200_000 * 2.5 + 100_000 * 0.25 + 1_000 * 15) / 1e6,
    ],
  ])("of %s %s with %j are those of the data", async (provider, model, usage, totalUsd) => {
    const found = await cost(provider, model, usage);
    expect(found?.totalUsd).toBeCloseTo(totalUsd, 12);
    expect(found).not.toHaveProperty("partial");
  });

  it.each<[string, string, string, Usage]>([
    ["a model that the data does not know", "gemini", "gemini-0-nothing", { input: 1, output: 1 }],
    ["a provider that the data does not know", "ollama", "llama3", { input: 1, output: 1 }],
    ["a provider whose name only holds a known one", "my-openai-proxy", "gpt-4o", { input: 1, output: 1 }],
    ["the offline model", "offline", "offline-demo", { input: 1, output: 1 }],
    ["a newer model that begins with a known name", "anthropic", "claude-sonnet-4-5-9", { input: 1, output: 1 }],
    ["no usage", "anthropic", "claude-sonnet-4-5", {}],
    ["usage with nothing but a total", "anthropic", "claude-sonnet-4-5", { total: 100 }],
  ])("are unknown for %s", async (_, provider, model, usage) => {
    expect(await cost(provider, model, usage)).toBeUndefined();
  });

  it("are partial when one side of the usage is not known", async () => {
    expect(await cost("anthropic", "claude-sonnet-4-5", { output: 1_000_000 })).toEqual({ totalUsd: 15, partial: true });
    expect(await cost("anthropic", "claude-sonnet-4-5", { input: 100_000 })).toEqual({ totalUsd: 0.3, partial: true });
  });

  it("are partial when one side has no price", async () => {
    expect(await cost("openai", "text-embedding-3-small", { input: 1_000_000, output: 5 })).toEqual({ totalUsd: 0.02, partial: true });
  });

  it("take an override first, by model and then by star, without loading the data", () => {
    const overrides = {
      anthropic: { "claude-sonnet-4-5": { input: 10, output: 20, cacheRead: 1, cacheWrite: 12 } },
      ollama: { "*": { input: 0, output: 0 }, big: { input: 1, output: 2 } },
    };
    const usage = { input: 1_000_000, cacheRead: 1_000_000, cacheWrite: 1_000_000, output: 1_000_000 };
    expect(cost("anthropic", "claude-sonnet-4-5", usage, { overrides })).toEqual({ totalUsd: 43 });
    expect(cost("ollama", "llama3", { input: 5, output: 5 }, { overrides })).toEqual({ totalUsd: 0 });
    expect(cost("ollama", "big", { input: 1_000_000, output: 1_000_000 }, { overrides })).toEqual({ totalUsd: 3 });
    expect(cost("ollama", "big", usage, { overrides })).toEqual({ totalUsd: 3, partial: true });
  });

  it("know an instance with a name of its own by its declared provider", async () => {
    const providers = { "team-claude": "anthropic" };
    expect(await cost("team-claude", "claude-sonnet-4-5", { input: 100_000, output: 0 }, { providers })).toEqual({ totalUsd: 0.3 });
  });

  it("answer from memory once the data is loaded", async () => {
    const table = prices();
    const call = { provider: "openai", model: "gpt-4o", usage: { input: 1_000_000, output: 0 }, at };
    const first = table.costOf(call);
    expect(first).toBeInstanceOf(Promise);
    expect(await first).toEqual({ totalUsd: 2.5 });
    expect(table.costOf(call)).toEqual({ totalUsd: 2.5 });
  });
});

describe("isSameModel", () => {
  it.each([
    ["claude-sonnet-4-5-20250929", "claude-sonnet-4-5", true],
    ["gpt-4o-2024-08-06", "gpt-4o", true],
    ["gpt-4-0613", "gpt-4", true],
    ["gemini-2.5-pro-preview-05-06", "gemini-2.5-pro", true],
    ["gpt-5.6", "gpt-5.6-sol", true],
    ["models/gemini-2.0-flash-001", "gemini-2.0-flash", true],
    ["claude-sonnet-5-5", "claude-sonnet-5", false],
    ["gpt-5.7", "gpt-5", false],
    ["gpt-6-mini", "gpt-6", false],
    ["gemini-9-flash-lite", "gemini-9-flash", false],
  ])("of %s and %s is %s", (asked, found, same) => {
    expect(isSameModel(asked, found)).toBe(same);
  });
});
