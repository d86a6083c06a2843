export { type AiSdkOptions, aiSdkRoutes } from "./ai-sdk-routes.ts";
