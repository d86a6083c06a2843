import type { ModelProvider } from "@loopwright/core/ports";
import { ollama } from "../src/index.ts";

/** The provider that another process reads hostile bodies with. */
export function make(baseURL: string, transport?: typeof fetch): ModelProvider {
  return ollama({ baseURL, ...(transport === undefined ? {} : { transport }) });
}
