import { AgentError } from "@loopwright/core";
import { identify } from "../identity/identify.ts";
import type { Caller } from "../identity/local-principal.ts";
import { authorizeRequest } from "../permissions/authorize.ts";
import { readRequest } from "../request/read-request.ts";
import type { InProcess, Route } from "../request/route.ts";
import { runRoute } from "../routes/run-route.ts";
import type { ServerContext } from "../server-context.ts";
import type { Principal } from "../server-options.ts";
import type { OpenSink } from "../stream/event-sink.ts";

/** The facts about the current request that the transport has. */
export interface Connection {
  readonly openSink: OpenSink;
  readonly caller: Caller;
  readonly requestId: string;
  /** Set for requests in process: their principal is known, and counted. */
  readonly principal?: Principal;
  /** The built-in routes in process. */
  inProcess(principal: Principal): InProcess;
}

export interface MatchedRequest {
  readonly request: Request;
  readonly params: Record<string, string>;
  readonly connection: Connection;
}

/** The principal of public routes. */
const anonymous: Principal = { user: "anonymous", scope: "public" };
/** The counter of all requests that could not be authenticated. */
const unauthenticated = "?";

/**
 * Checks the request (principal, rate, shape, permission, each in a folder of its own) and returns the response of its route.
 * @throws AgentError for every refused request
 */
export async function answerRoute(route: Route, matched: MatchedRequest, server: ServerContext): Promise<Response> {
  const { request, params, connection } = matched;
  if (request.method === "HEAD" && Object.values(route.responses).some(({ stream }) => stream))
    throw new AgentError("METHOD_NOT_ALLOWED", {
      message: "The route answers with an event stream, and a HEAD request cannot get one.",
      fix: "Use GET.",
    });
  const principal = route.access === "public" ? anonymous : await principalOf(matched, server);
  const isCounted = route.access === "principal" && connection.principal === undefined;
  if (isCounted) await server.rates.take(`${principal.scope}/${principal.user}`, route.method !== "GET");
  if (route.isRefusedAtEnd && !server.isReady())
    throw new AgentError("NOT_READY", { message: "The server is shutting down.", retryAfterMs: 2_000 });
  const input = await readRequest(route, { request, params, principal }, server);
  await authorizeRequest(route, { principal, input }, server);
  const { openSink } = connection;
  return runRoute(route, { request, principal, server, openSink, inProcess: () => connection.inProcess(principal), ...input });
}

async function principalOf({ request, connection }: MatchedRequest, server: ServerContext): Promise<Principal> {
  if (connection.principal) return connection.principal;
  try {
    return await identify(request, server, connection.caller);
  } catch (error) {
    await server.rates.take(unauthenticated, false);
    throw error;
  }
}
