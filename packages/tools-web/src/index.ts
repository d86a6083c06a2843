export { type AdmittedUrl, type ResolveHost, type WebGuard, webGuard } from "./guard/web-guard.ts";
export type { WebPolicy } from "./guard/web-policy.ts";
export type { PageFormat } from "./page/read-page.ts";
export type { WebFailureReason } from "./web-error.ts";
export { type WebFetchArguments, type WebFetchOptions, webFetch } from "./web-fetch.ts";
export { defaultWebLimits, type WebLimits } from "./web-limits.ts";
