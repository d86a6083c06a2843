/** A request to one of the routes here, as an extension route of `@loopwright/server` gets it. */
export interface TelemetryRequest {
  readonly principal: TelemetryPrincipal;
  readonly params: { readonly [name: string]: string };
  readonly query: URLSearchParams;
  readonly url: string;
  fetch(request: Request): Promise<Response>;
}

export interface TelemetryPrincipal {
  readonly user: string;
  readonly scope: string;
  readonly roles?: readonly string[];
  readonly trusted?: boolean;
}

/** A route for `routes` of `createServer`. */
export interface TelemetryRoute {
  readonly method: "GET";
  readonly path: string;
  readonly id: string;
  readonly summary: string;
  handle(context: TelemetryRequest): Response | Promise<Response>;
}

/**
 * How far a caller may look: at the numbers of all scopes, of its own scope, or at its own. Default of the routes: a trusted principal at all, every
 * other at its own.
 */
export type Reach = "all" | "scope" | "user";
export type ReachOf = (principal: TelemetryPrincipal) => Reach;

export const reachByTrust: ReachOf = ({ trusted }) => (trusted ? "all" : "user");

/** An answer that no cache keeps. */
export const jsonAnswer = (body: object): Response => Response.json(body, { headers: { "Cache-Control": "no-store" } });
