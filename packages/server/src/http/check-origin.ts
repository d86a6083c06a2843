import { AgentError } from "@loopwright/core";
import { requestHost } from "../request-host.ts";

const isSafe = (method: string): boolean => method === "GET" || method === "HEAD" || method === "OPTIONS";

/** The origin of the page that sent the request, if `origins` has it; `undefined`: no page of another origin sent it. @throws AgentError ORIGIN_REFUSED */
export function checkOrigin(request: Request, origins: readonly string[]): string | undefined {
  const origin = request.headers.get("Origin");
  if (origin !== null && origins.includes(origin)) return origin;
  const isForeign = origin === null ? isSentByOthers(request) : hostOf(origin) !== requestHost(request);
  if (isForeign) throw new AgentError("ORIGIN_REFUSED", { message: "A page of another origin sent the request." });
  return undefined;
}

/**
 * True for requests of another page that have no `Origin`: pictures, scripts, frames, forms. Following a link is allowed, because that is an act of
 * the user. Programs do not send these headers.
 */
function isSentByOthers({ method, headers }: Request): boolean {
  const site = headers.get("Sec-Fetch-Site");
  if (site !== "cross-site" && site !== "same-site") return false;
  const isLink = headers.get("Sec-Fetch-Mode") === "navigate" && headers.get("Sec-Fetch-Dest") === "document";
  return !isLink || !isSafe(method);
}

/** The host of an origin; `undefined` for `null` and for anything that is not a web address. */
function hostOf(origin: string): string | undefined {
  return /^https?:/i.test(origin) && URL.canParse(origin) ? new URL(origin).host : undefined;
}
