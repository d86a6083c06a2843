import type { Usage } from "@loopwright/core";
import { countOf, recordIn, requireUsage } from "@loopwright/provider-kit";

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
  requireUsage(wire);
  const usage: { -readonly [K in keyof Usage]: Usage[K] } = {};
  const all = countOf(wire.prompt_tokens ?? wire.input_tokens);
  const details = recordIn(wire.prompt_tokens_details ?? wire.input_tokens_details, "a usage");
  const cached = countOf(details?.cached_tokens ?? wire.prompt_cache_hit_tokens);
  const written = countOf(details?.cache_write_tokens);
  if (all !== undefined) {
    const cacheRead = Math.min(cached ?? 0, all);
    const cacheWrite = Math.min(written ?? 0, all - cacheRead);
    usage.input = all - cacheRead - cacheWrite;
    if (cached !== undefined) usage.cacheRead = cacheRead;
    if (written !== undefined) usage.cacheWrite = cacheWrite;
  }
  const output = countOf(wire.completion_tokens ?? wire.output_tokens);
  if (output !== undefined) usage.output = output;
  const reasoning = countOf(recordIn(wire.completion_tokens_details ?? wire.output_tokens_details, "a usage")?.reasoning_tokens);
  if (reasoning !== undefined) usage.reasoning = reasoning;
  const total = countOf(wire.total_tokens);
  if (total !== undefined) usage.total = total;
  return usage;
}
