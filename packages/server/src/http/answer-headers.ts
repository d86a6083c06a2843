/** What every answer says to browsers. */
const security: { readonly [name: string]: string } = {
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Cache-Control": "no-store",
};

/** What is said of an answer that no route and no door gives: the platform refuses the request before them. */
export function refusalHeaders(requestId: string): { readonly [name: string]: string } {
  return { ...security, "X-Request-Id": requestId };
}

const exposed = "X-Session-Id, X-Session-Stale, Link, X-Request-Id, Location, ETag, Retry-After";

export interface AnswerContext {
  readonly requestId: string;
  /** The page elsewhere that may read the answer. */
  readonly origin: string | undefined;
}

/** Adds what every answer carries; what a route has said itself stays. */
export function dressAnswer(headers: Headers, { requestId, origin }: AnswerContext): void {
  for (const [name, value] of Object.entries(security)) if (!headers.has(name)) headers.set(name, value);
  headers.set("X-Request-Id", requestId);
  if (origin === undefined) return;
  headers.set("Access-Control-Allow-Origin", origin);
  headers.set("Access-Control-Expose-Headers", exposed);
  headers.append("Vary", "Origin");
}

/** The answer to a browser that asks whether a page elsewhere may send a request. */
export function preflightResponse(): Response {
  return new Response(null, {
    status: 204,
    headers: {
      "Access-Control-Allow-Methods": "GET, HEAD, POST, PATCH, DELETE",
      "Access-Control-Allow-Headers":
        "Authorization, Content-Type, Idempotency-Key, If-None-Match, Last-Event-ID, X-File-Name, X-Request-Id",
      "Access-Control-Max-Age": "600",
    },
  });
}
