import type { ModelProvider } from "@loopwright/core/ports";
import { openai } from "../src/index.ts";

const api = import.meta.url.endsWith("?responses") ? "responses" : "chat";

/** The provider that another process reads hostile bodies with. */
export function make(baseURL: string, transport?: typeof fetch): ModelProvider {
  return openai({ apiKey: "key-0123456789", model: "m", api, baseURL, ...(transport === undefined ? {} : { transport }) });
}
