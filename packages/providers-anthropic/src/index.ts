/** Anthropic as a model provider of Loopwright. */
export { anthropic } from "./anthropic.ts";
export type { AnthropicOptions } from "./options.ts";
