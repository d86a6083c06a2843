import { AgentError } from "@loopwright/core";
import type { Clock } from "@loopwright/core/ports";
import { bytesResponse } from "../request/paced-response.ts";
import type { ServerContext } from "../server-context.ts";
import type { PageFile } from "../server-options.ts";

/** The content security policy: scripts, styles and fonts from this server only; pictures also from `data:` and `blob:`; no other page may frame it. */
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob: data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/**
 * A file of the page; `index.html` for every path without an extension that a browser opens, because the page interprets such paths itself.
 * @throws AgentError ROUTE_NOT_FOUND
 */
export async function servePage(
  request: Request,
  path: string | undefined,
  { options: { page }, clock }: Pick<ServerContext, "options" | "clock">,
): Promise<Response> {
  const isRead = request.method === "GET" || request.method === "HEAD";
  const name = path === undefined || !isRead || !page ? undefined : nameOf(path);
  if (!page || name === undefined) throw notFound();
  // Without the slash at the end, relative addresses of the page would not lead below the base path.
  if (path === "") return new Response(null, { status: 308, headers: { Location: `${new URL(request.url).pathname}/` } });
  const file = await page(name);
  if (file) return pageResponse(file, request, clock);
  const start = isPlace(name) && wantsPage(request) ? await page("") : undefined;
  if (!start) throw notFound();
  const response = pageResponse(start, request, clock);
  response.headers.append("Vary", "Accept");
  return response;
}

/** True if the request names HTML in `Accept`, as browsers do for an address that the user opens. */
function wantsPage(request: Request): boolean {
  const accepted = (request.headers.get("Accept") ?? "").toLowerCase().split(",");
  return accepted.some((range) => /^\s*text\/html\s*(?:;|$)/.test(range) && !/;\s*q=0(?:\.0*)?\s*(?:;|$)/.test(range));
}

function pageResponse({ bytes, gzip, mediaType, immutable }: PageFile, request: Request, clock: Clock): Response {
  const isSmall = gzip !== undefined && takesGzip(request);
  const body = isSmall ? gzip : bytes;
  const headers = {
    "Content-Type": mediaType,
    "Content-Length": String(body.byteLength),
    ...(gzip ? { Vary: "Accept-Encoding" } : {}),
    ...(isSmall ? { "Content-Encoding": "gzip" } : {}),
    "Content-Security-Policy": pagePolicy,
    "Cache-Control": immutable ? "public, max-age=31536000, immutable" : "no-cache",
  };
  return request.method === "HEAD" ? new Response(null, { headers }) : bytesResponse(body, clock, { headers });
}

function takesGzip(request: Request): boolean {
  const codings = (request.headers.get("Accept-Encoding") ?? "").toLowerCase().split(",");
  return codings.some((coding) => /^\s*gzip\s*(?:;|$)/.test(coding) && !/;\s*q=0(?:\.0*)?\s*(?:;|$)/.test(coding));
}

const isPlace = (name: string): boolean => !(name.split("/").at(-1) ?? "").includes(".");

/** The decoded path without its first slash; `undefined` for API paths and for names that no file may have. */
function nameOf(path: string): string | undefined {
  if (path === "/api" || path.startsWith("/api/")) return undefined;
  try {
    const name = decodeURIComponent(path).replace(/^\//, "");
    const isPlain = !/[\\\0]/.test(name) && !name.split("/").some((step) => step === ".." || step === ".") && !name.startsWith("/");
    return isPlain ? name : undefined;
  } catch {
    return undefined;
  }
}

const notFound = (): AgentError => new AgentError("ROUTE_NOT_FOUND", { message: "There is nothing at this path." });
