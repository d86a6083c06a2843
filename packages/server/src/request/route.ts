import type { AgentError, JsonSchema } from "@loopwright/core";
import type { z } from "zod";
import type { Action } from "../actions-to-authorize.ts";
import type { ServerContext } from "../server-context.ts";
import type { Principal } from "../server-options.ts";
import type { OpenSink } from "../stream/event-sink.ts";

/** One request after the checks before its route: its principal is known, and its input has the shape of the route. */
export interface RequestContext<Params = unknown, Query = unknown, Body = unknown> {
  readonly request: Request;
  readonly principal: Principal;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly server: ServerContext;
  /** Aborted when the answer was late and was given up. `request.signal` is aborted when the caller has gone. */
  readonly late: AbortSignal;
  /** For routes that stream. */
  readonly openSink: OpenSink;
  /** Authenticates and authorizes the request once more. @throws AgentError as for the request itself */
  readonly checkAgain: () => Promise<Principal>;
  /** The principal that the last check found: the roles of a stream's reader may change. */
  readonly principalNow: () => Principal;
  /** The built-in routes for the same principal, for routes of the application. */
  readonly inProcess: () => InProcess;
}

/** The built-in routes without a connection. */
export interface InProcess {
  /** The address of the routes, base path included. */
  readonly url: string;
  fetch(request: Request): Promise<Response>;
}

/** Parameters, query and body of a request, in the shape of its route. */
export type RequestInput<Params = unknown, Query = unknown, Body = unknown> = Pick<
  RequestContext<Params, Query, Body>,
  "params" | "query" | "body"
>;

/** What the route takes and gives, for validation and for `/openapi.json`. */
export interface Route<Params = unknown, Query = unknown, Body = unknown> {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With `:name` for parameters, without the base path. */
  readonly path: string;
  readonly id: string;
  readonly summary: string;
  /** `public`: answers without a principal. */
  readonly access: "public" | "principal";
  /** The action for `authorize`; `permissions/intents-of-request.ts` finds the session. Public routes have none. */
  readonly action?: Action;
  /** The error for a session that does not exist. Default: SESSION_NOT_FOUND, which names the session. */
  absent?(input: RequestInput<Params, Query, Body>, request: Request): AgentError | undefined;
  readonly params?: z.ZodType<Params>;
  readonly query?: z.ZodType<Query>;
  /** Absent: no body is read. */
  readonly body?: z.ZodType<Body>;
  /** The body in `/openapi.json`. Default: `body`. */
  readonly bodySchema?: z.ZodType;
  /** True if the body may be absent. */
  readonly bodyOptional?: boolean;
  /** True if the handler itself reads the body, which is not JSON. */
  readonly hasRawBody?: boolean;
  /** True for a route of the application. */
  readonly isExtension?: boolean;
  /** What an application declares of its route, for `/openapi.json`. */
  readonly described?: { readonly body?: JsonSchema; readonly response?: JsonSchema };
  /** True if the handler has its own deadline. Default: `limits.answerMs`. */
  readonly hasOwnDeadline?: boolean;
  /** True if the route begins work: it is refused while the server shuts down. */
  readonly isRefusedAtEnd?: boolean;
  /** The responses by status. `stream`: server-sent events. */
  readonly responses: {
    readonly [status: number]: { readonly description: string; readonly schema?: z.ZodType; readonly stream?: boolean };
  };
  handle(context: RequestContext<Params, Query, Body>): Response | Promise<Response>;
}
