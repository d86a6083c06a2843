import { parseUrl, type ResolveHost, type UrlGuard, type UrlPolicy, urlGuard } from "@loopwright/url-guard";
import { webError } from "./web-error.ts";

/** Which pages may be fetched. */
export type WebPolicy = UrlPolicy;

/** Decides which URLs may be fetched. */
export type WebGuard = UrlGuard;

/** The guard of a policy, with the errors of the web tools. `resolve` defaults to the look-up of the operating system. @throws AgentError CONFIG_INVALID for a wrong policy. */
export function webGuard(policy: WebPolicy = {}, resolve?: ResolveHost): WebGuard {
  return urlGuard({ policy, resolve, refuse: webError });
}

/** The URL that a text means, as browsers read it. @throws AgentError `invalid_url` */
export function parseWebUrl(text: string, base?: URL): URL {
  return parseUrl(text, { ...(base ? { base } : {}), refuse: webError });
}
