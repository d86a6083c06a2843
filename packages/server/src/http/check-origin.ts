import { AgentError } from "@loopwright/core";
import { requestHost } from "./check-host.ts";

const isSafe = (method: string): boolean => method === "GET" || method === "HEAD" || method === "OPTIONS";

/** The page elsewhere that may read the answer; `undefined`: the request needs no permission of that kind. @throws AgentError ORIGIN_REFUSED */
export function checkOrigin(request: Request, origins: readonly string[]): string | undefined {
  const origin = request.headers.get("Origin");
  if (origin !== null && origins.includes(origin)) return origin;
  const isForeign = origin === null ? isSentByOthers(request) : hostOf(origin) !== requestHost(request);
  if (isForeign) throw new AgentError("ORIGIN_REFUSED", { message: "A page of another origin sent the request." });
  return undefined;
}

/**
 * What a page elsewhere has a browser fetch without naming an origin: pictures, scripts, frames, forms. Only following a link to here is the
 * user's own act. Programs send no such header.
 */
function isSentByOthers({ method, headers }: Request): boolean {
  const site = headers.get("Sec-Fetch-Site");
  if (site !== "cross-site" && site !== "same-site") return false;
  const isLink = headers.get("Sec-Fetch-Mode") === "navigate" && headers.get("Sec-Fetch-Dest") === "document";
  return !isLink || !isSafe(method);
}

/** `null` and whatever else is no address of the web have none. */
function hostOf(origin: string): string | undefined {
  return /^https?:/i.test(origin) && URL.canParse(origin) ? new URL(origin).host : undefined;
}
