import { AgentError } from "@loopwright/core";
import { identify } from "../identity/identify-caller.ts";
import { redeemTicket, ticketParameter } from "../identity/stream-ticket.ts";
import { authorizeRequest } from "../permissions/authorize.ts";
import { readRequest } from "../request/read-request.ts";
import type { InProcess, Route } from "../request/route.ts";
import { runRoute } from "../routes/call-route-handler.ts";
import type { ServerContext } from "../server-context.ts";
import type { Caller, Principal } from "../server-options.ts";
import type { OpenSink } from "../stream/event-sink.ts";

/** The facts about the current request that the transport has. */
export interface Connection {
  readonly openSink: OpenSink;
  readonly caller: Caller;
  readonly requestId: string;
  /** Set for requests in process: their principal is known, and was counted with the outer request. */
  readonly principal?: Principal;
  /** Serves the built-in routes in process. */
  inProcess(principal: Principal): InProcess;
}

export interface MatchedRequest {
  readonly request: Request;
  readonly params: Record<string, string>;
  readonly connection: Connection;
}

/** The principal of public routes. */
const anonymous: Principal = { user: "anonymous", scope: "public" };

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
  const { principal, ask } =
    route.access === "public" ? { principal: anonymous, ask: undefined } : await identityOf(route, matched, server);
  const isCounted = route.access === "principal" && connection.principal === undefined;
  if (isCounted) await server.rates.take(principal, route.method !== "GET");
  if (route.isRefusedAtEnd && !server.isReady())
    throw new AgentError("NOT_READY", { message: "The server is shutting down.", retryAfterMs: 2_000 });
  const input = await readRequest(route, { request, params, principal }, server);
  await authorizeRequest(route, { principal, input, request }, server);
  const { openSink } = connection;
  let current = principal;
  const checkAgain = async (): Promise<Principal> => {
    const now = (await ask?.()) ?? principal;
    if (now.user !== principal.user || now.scope !== principal.scope) throw changed();
    // The roles of the caller may have changed.
    await authorizeRequest(route, { principal: now, input, request }, server);
    current = now;
    return now;
  };
  const rights = { principal, principalNow: () => current, checkAgain };
  return runRoute(route, { request, server, openSink, ...rights, inProcess: () => connection.inProcess(principal), ...input });
}

interface Identity {
  readonly principal: Principal;
  /** Authenticates the request again. Absent for a ticket, which is valid once, and for requests in process. */
  readonly ask?: () => Promise<Principal>;
}

async function identityOf(route: Route, { request, connection }: MatchedRequest, server: ServerContext): Promise<Identity> {
  if (connection.principal) return { principal: connection.principal };
  try {
    const { pathname, searchParams } = new URL(request.url);
    const ticket = searchParams.get(ticketParameter);
    if (ticket !== null && hasStream(route)) return { principal: await redeemTicket(ticket, pathname, server) };
    const again = { ...server, isAnew: true };
    return { principal: await identify(request, server, connection.caller), ask: () => identify(request, again, connection.caller) };
  } catch (error) {
    await server.rates.take({}, false);
    throw error;
  }
}

/** True if the route accepts tickets: it can be read as a stream. */
const hasStream = ({ method, responses }: Route): boolean => method === "GET" && Object.values(responses).some(({ stream }) => stream);

const changed = (): AgentError => new AgentError("UNAUTHENTICATED", { message: "The credentials now belong to another caller." });
