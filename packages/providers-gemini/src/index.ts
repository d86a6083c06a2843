/** Google Gemini as a model provider of Loopwright. */
export { gemini } from "./gemini.ts";
export type { GeminiOptions } from "./options.ts";
