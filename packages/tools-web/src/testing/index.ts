/** What tests of searches and of agents that read the web are made with. Runs on Node.js only. */
export {
  type GeneratedPage,
  type GeneratedWeb,
  type GenerateWebOptions,
  generateWeb,
  type WebFact,
  type WebQuestion,
} from "./generate-web.ts";
export { type SearchUnderTest, searchProviderKit } from "./search-provider-kit.ts";
export { type ServedWeb, type ServeWebOptions, serveWeb } from "./serve-web.ts";
