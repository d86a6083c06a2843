/** Ollama as a model provider of Loopwright. */
export { ollama } from "./ollama.ts";
export type { OllamaOptions } from "./options.ts";
