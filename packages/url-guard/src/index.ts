/** Which URLs of callers and models may be reached. */
export { isLinkLocalAddress, isPublicAddress } from "./address.ts";
export { type RefuseUrl, refusedUrl, shownUrl, type UrlRefusal } from "./refused-url.ts";
export {
  type AdmittedUrl,
  parseUrl,
  type ResolveHost,
  type UrlGuard,
  type UrlGuardOptions,
  urlCharactersMax,
  urlGuard,
} from "./url-guard.ts";
export type { UrlPolicy } from "./url-policy.ts";
