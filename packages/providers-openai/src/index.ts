/** OpenAI and every compatible server as a model provider. */
export type { KnownServer, OpenAiCompat } from "./compat.ts";
export { knownServers, otherServer } from "./compat.ts";
export { defaultModel } from "./models.ts";
export { openai } from "./openai.ts";
export { type OpenAiEmbedderOptions, openaiEmbedder } from "./openai-embedder.ts";
export { type OpenAiImagesOptions, openaiImages } from "./openai-images.ts";
export type { OpenAiOptions } from "./options.ts";
