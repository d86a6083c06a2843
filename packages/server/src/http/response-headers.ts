/** Security headers of every response. */
const security: { readonly [name: string]: string } = {
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Cache-Control": "no-store",
};

/** Headers of a response that the platform gives before the request reaches the handler. */
export function refusalHeaders(requestId: string): { readonly [name: string]: string } {
  return { ...security, "X-Request-Id": requestId };
}

const exposed = "X-Session-Id, X-Session-Stale, Link, X-Request-Id, Location, ETag, Retry-After";

export interface ResponseHeaderOptions {
  readonly requestId: string;
  /** The origin of a page on another host that may read the response. */
  readonly origin: string | undefined;
}

/** Adds the headers of every response; headers that the route has set stay. */
export function applyResponseHeaders(headers: Headers, { requestId, origin }: ResponseHeaderOptions): void {
  for (const [name, value] of Object.entries(security)) if (!headers.has(name)) headers.set(name, value);
  headers.set("X-Request-Id", requestId);
  if (origin === undefined) return;
  headers.set("Access-Control-Allow-Origin", origin);
  headers.set("Access-Control-Expose-Headers", exposed);
  headers.append("Vary", "Origin");
}

/** The response to a preflight request of a browser (CORS). */
export function preflightResponse(): Response {
  return new Response(null, {
    status: 204,
    headers: {
      "Access-Control-Allow-Methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
      "Access-Control-Allow-Headers":
        "Authorization, Content-Type, Idempotency-Key, If-None-Match, Last-Event-ID, X-File-Name, X-Request-Id, X-Scope",
      "Access-Control-Max-Age": "600",
    },
  });
}
