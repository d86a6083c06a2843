import type { Usage } from "@loopwright/core/protocol";
import type { AgUiUsage } from "./ag-ui-event.ts";

/** Tokens as AG-UI counts them: what was read from a cache, and reasoning, are parts of the totals. */
export function tokensOf({ input = 0, cacheRead = 0, cacheWrite = 0, output = 0, reasoning = 0 }: Usage): AgUiUsage {
  return { inputTokens: input + cacheRead + cacheWrite, outputTokens: output, cachedInputTokens: cacheRead, reasoningTokens: reasoning };
}
