import type { ModelProvider } from "@loopwright/core/ports";
import { gemini } from "../src/index.ts";

/** The provider that another process reads hostile bodies with. */
export function make(baseURL: string, transport?: typeof fetch): ModelProvider {
  return gemini({ apiKey: "key-0123456789", baseURL, ...(transport === undefined ? {} : { transport }) });
}
