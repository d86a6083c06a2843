import { describe, expect, it } from "vitest";
import { usageFrom } from "./usage.ts";

describe("usageFrom", () => {
  it("A39, A46: takes what was read from and written to the cache out of the prompt count", () => {
    const details = { cached_tokens: 900, cache_write_tokens: 40 };
    expect(usageFrom({ prompt_tokens: 1_000, completion_tokens: 20, total_tokens: 1_020, prompt_tokens_details: details })).toEqual({
      input: 60,
      cacheRead: 900,
      cacheWrite: 40,
      output: 20,
      total: 1_020,
    });
  });

  it("reads the names of both APIs, and DeepSeek's older one", () => {
    expect(usageFrom({ input_tokens: 5, output_tokens: 3, output_tokens_details: { reasoning_tokens: 2 } })).toEqual({
      input: 5,
      output: 3,
      reasoning: 2,
    });
    expect(usageFrom({ prompt_tokens: 10, prompt_cache_hit_tokens: 4 })).toEqual({ input: 6, cacheRead: 4 });
  });

  it("A38: leaves unreported numbers unknown, and never sets them to 0", () => {
    expect(usageFrom({ prompt_tokens: 10, prompt_tokens_details: null, completion_tokens: null })).toEqual({ input: 10 });
    expect(usageFrom({})).toEqual({});
  });

  it("holds a server to what it read when it claims more cached tokens than that", () => {
    expect(usageFrom({ prompt_tokens: 377, prompt_tokens_details: { cached_tokens: 515 } })).toEqual({ input: 0, cacheRead: 377 });
  });
});
