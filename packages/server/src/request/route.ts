import type { z } from "zod";
import type { Principal } from "../server-options.ts";
import type { ServerScene } from "../server-scene.ts";
import type { OpenSink } from "../stream/event-sink.ts";

/** One request that has passed the door: who sends it is known, and what it says has the shape of its route. */
export interface Call<Params = unknown, Query = unknown, Body = unknown> {
  readonly request: Request;
  readonly principal: Principal;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly scene: ServerScene;
  /** Aborted when the answer is late: nobody waits for it any longer. `request.signal` is when the caller has gone. */
  readonly late: AbortSignal;
  /** For routes that stream. */
  readonly openSink: OpenSink;
}

/** What the route takes and gives, for validation and for `/openapi.json`. */
export interface Route<Params = unknown, Query = unknown, Body = unknown> {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** With `:name` for parameters, without the base path. */
  readonly path: string;
  readonly id: string;
  readonly summary: string;
  /** `public`: answers without a principal. */
  readonly access: "public" | "principal";
  readonly params?: z.ZodType<Params>;
  readonly query?: z.ZodType<Query>;
  /** Absent: no body is read. */
  readonly body?: z.ZodType<Body>;
  /** A body is not needed. */
  readonly bodyOptional?: boolean;
  /** The handler reads the body itself: it is no JSON. */
  readonly hasRawBody?: boolean;
  /** Begins work: refused while the server shuts down. */
  readonly isRefusedAtEnd?: boolean;
  /** By status: what comes back. `stream`: server-sent events. */
  readonly responses: {
    readonly [status: number]: { readonly description: string; readonly schema?: z.ZodType; readonly stream?: boolean };
  };
  handle(call: Call<Params, Query, Body>): Response | Promise<Response>;
}
