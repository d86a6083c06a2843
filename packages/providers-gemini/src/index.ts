/** Google Gemini as a model provider of Loopwright. */
export { gemini } from "./gemini.ts";
export { type GeminiEmbedderOptions, geminiEmbedder } from "./gemini-embedder.ts";
export { type GeminiImagesOptions, geminiImages } from "./gemini-images.ts";
export type { GeminiOptions } from "./options.ts";
