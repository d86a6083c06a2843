/*
 * Owns: the endpoint, for both kinds of clients: those of 2026-07-28, whose requests stand alone, and those that begin with the handshake of 2025. Does not
 * own: the protocol (the SDK), what callers may do (the server: every request to it goes as the same caller).
 */

import { createClient, type LoopwrightClient } from "@loopwright/client";
import type { Agent } from "@loopwright/core";
import { type ExecuteStream, isAgentError, type Json, type JsonObject } from "@loopwright/core/protocol";
import type { ExtensionContext, ExtensionRoute } from "@loopwright/server";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { agentServer } from "./agent-server.ts";
import { placeOf, requestKey, sessionHeader, sessionsOfKey } from "./call-key.ts";

export interface McpOptions {
  /** Below the `basePath` of the server. Default `/mcp`. */
  readonly path?: string;
  /** An agent made by `toolAgent`, which the runtime has too: its tools are offered one by one. Default: agents alone. */
  readonly tools?: Agent;
}

/** An answer begins at once: a call is answered by a stream. */
const beginsMs = 60_000;

/**
 * A route that is an MCP server: `POST /mcp`. Each agent is a tool `ask_<agent>`, beside those of `tools`. Give it to the server as one of its `routes`: its authentication,
 * `authorize` and limits hold for it.
 */
export function mcpRoutes({ path = "/mcp", tools }: McpOptions = {}): readonly ExtensionRoute[] {
  const running = new Map<string, ExecuteStream>();
  return [
    {
      ...{ method: "POST", path, id: "mcp", summary: "Agents as tools of an MCP server.", body: "json", timeoutMs: beginsMs },
      handle: (context) => answer(context, { running, tools }),
    },
  ];
}

interface Endpoint {
  readonly running: Map<string, ExecuteStream>;
  readonly tools: Agent | undefined;
}

async function answer(context: ExtensionContext, { running, tools }: Endpoint): Promise<Response> {
  const { request, principal, url, fetch } = context;
  const body = context.body as Json;
  // The revision 2025-06-18 has taken batches away.
  if (!isObject(body)) return refused("The body is one JSON-RPC message.");
  const client = createClient({ url, fetch: (inner) => fetch(inner) });
  const { user, scope } = principal;
  const cancelled = cancelledBy(body);
  const session = request.headers.get(sessionHeader);
  if (cancelled !== undefined && session !== null)
    await stop(client, { user, scope, key: await requestKey({ user, session, id: cancelled }), running });
  const { agents } = await client.agents();
  const handler = createMcpHandler(
    () => agentServer({ agents, tools }, { client, user, scope, headers: request.headers, signal: request.signal, running }),
    {
      // A call may be silent for a long time, and a stream shows that it lives.
      responseMode: body["method"] === "tools/call" ? "sse" : "auto",
    },
  );
  const asked = new Request(request.url, { method: "POST", headers: request.headers, signal: request.signal });
  const response = await handler.fetch(asked, { parsedBody: body });
  if (body["method"] !== "initialize" || !response.ok) return response;
  // The id joins the requests of a client, so that it can cancel one of them. It gives no right to anything.
  const headers = new Headers(response.headers);
  headers.set(sessionHeader, crypto.randomUUID());
  return new Response(response.body, { status: response.status, headers });
}

const isObject = (value: Json): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value);

const refused = (message: string): Response =>
  Response.json({ jsonrpc: "2.0", id: null, error: { code: -32_600, message } }, { status: 400 });

/** The id of the request that a notification of 2025 cancels. */
function cancelledBy({ method, params }: JsonObject): string | number | undefined {
  if (method !== "notifications/cancelled" || params === undefined || !isObject(params)) return undefined;
  const { requestId } = params;
  return typeof requestId === "string" || typeof requestId === "number" ? requestId : undefined;
}

interface Stopped {
  readonly user: string;
  readonly scope: string;
  readonly key: string;
  readonly running: ReadonlyMap<string, ExecuteStream>;
}

/** Sessions that are searched for the run of a call: those with the newest changes, and of these any that are at rest only if they are among the newest. */
const [searchedMax, restingMax] = [200, 20];

/** Stops the run of a call: on this node, or by its key, which the log has. */
async function stop(client: LoopwrightClient, { user, scope, key, running }: Stopped): Promise<void> {
  const stream = running.get(placeOf(scope, key));
  try {
    if (stream) return await stream.abort("client_cancelled");
    for (const id of await sessionsOfKey(user, key)) if (await abortByKey(client, id, key)) return;
    // The notification names no conversation. Its session is one of the user's.
    const { sessions } = await client.sessions.list({ participant: user, limit: searchedMax });
    for (const [at, { id, status, participants }] of sessions.entries()) {
      if (participants?.[0] !== user || (status === "idle" && at >= restingMax)) continue;
      if (await abortByKey(client, id, key)) return;
    }
  } catch (error) {
    // It is over, or there is none.
    if (!isAgentError(error)) throw error;
  }
}

/** False where the session has no run of this key that could be stopped. */
async function abortByKey(client: LoopwrightClient, session: string, inputKey: string): Promise<boolean> {
  try {
    return await client.sessions.abort(session, "client_cancelled", { inputKey });
  } catch (error) {
    if (isAgentError(error) && !error.retryable) return false;
    throw error;
  }
}
