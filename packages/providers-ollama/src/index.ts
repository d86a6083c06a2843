/** Ollama as a model provider of Loopwright. */
export { ollama } from "./ollama.ts";
export { ollamaAddress } from "./ollama-address.ts";
export { type OllamaEmbedderOptions, ollamaEmbedder } from "./ollama-embedder.ts";
export type { OllamaOptions } from "./options.ts";
