import type { Usage } from "@loopwright/core";

/** The counts of both APIs and of compatible servers. Absent or null: not reported. */
export interface WireUsage {
  readonly prompt_tokens?: number | null;
  readonly completion_tokens?: number | null;
  readonly input_tokens?: number | null;
  readonly output_tokens?: number | null;
  readonly total_tokens?: number | null;
  readonly prompt_tokens_details?: WireInputDetails | null;
  readonly input_tokens_details?: WireInputDetails | null;
  readonly completion_tokens_details?: { readonly reasoning_tokens?: number | null } | null;
  readonly output_tokens_details?: { readonly reasoning_tokens?: number | null } | null;
  /** DeepSeek's older form of the cached count. */
  readonly prompt_cache_hit_tokens?: number | null;
}

interface WireInputDetails {
  readonly cached_tokens?: number | null;
  readonly cache_write_tokens?: number | null;
}

/**
 * The counts in our terms. OpenAI's prompt count includes what was read from and written to the cache; a server that claims
 * more cached tokens than it read (Azure with Grok does) is held to what it read.
 */
export function usageFrom(wire: WireUsage): Usage {
  const usage: { -readonly [K in keyof Usage]: Usage[K] } = {};
  const all = wire.prompt_tokens ?? wire.input_tokens;
  const details = wire.prompt_tokens_details ?? wire.input_tokens_details;
  const cached = details?.cached_tokens ?? wire.prompt_cache_hit_tokens;
  const written = details?.cache_write_tokens;
  if (typeof all === "number") {
    const cacheRead = Math.min(cached ?? 0, all);
    const cacheWrite = Math.min(written ?? 0, all - cacheRead);
    usage.input = all - cacheRead - cacheWrite;
    if (typeof cached === "number") usage.cacheRead = cacheRead;
    if (typeof written === "number") usage.cacheWrite = cacheWrite;
  }
  const output = wire.completion_tokens ?? wire.output_tokens;
  if (typeof output === "number") usage.output = output;
  const reasoning = (wire.completion_tokens_details ?? wire.output_tokens_details)?.reasoning_tokens;
  if (typeof reasoning === "number") usage.reasoning = reasoning;
  if (typeof wire.total_tokens === "number") usage.total = wire.total_tokens;
  return usage;
}
