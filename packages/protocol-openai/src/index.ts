export { type OpenAiOptions, openaiRoutes } from "./openai-routes.ts";
