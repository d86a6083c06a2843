import { AgentError } from "@loopwright/core";
import type { SecretStore } from "@loopwright/core/ports";
import { type ResolveHost, urlGuard } from "@loopwright/url-guard";
import { Client, StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client";
import { type GuardedFetch, guardedFetch } from "./guarded-fetch.ts";
import { looseValidator } from "./loose-validator.ts";
import { mcpError } from "./mcp-error.ts";
import type { McpLimits } from "./mcp-limits.ts";
import { isStdio, type McpHttpServer, type McpPlace, type McpServer, type McpStdioServer, type McpValue } from "./mcp-server.ts";
import type { Redaction } from "./server-text.ts";
import { StdioTransport } from "./stdio-transport.ts";

/** A server for one user. */
export interface ServerOfUser {
  readonly name: string;
  readonly server: McpServer;
  readonly place: McpPlace;
  readonly secrets: SecretStore | undefined;
  readonly limits: McpLimits;
  readonly redaction: Redaction;
  readonly resolve: ResolveHost | undefined;
}

export interface OpenClientOptions {
  readonly signal: AbortSignal;
  /** The list of tools has changed. */
  onChange(): void;
  onClose(): void;
}

/** A client that is connected. It grants the server nothing: neither sampling, nor questions to the user, nor folders. */
export async function openClient(of: ServerOfUser, { signal, onChange, onClose }: OpenClientOptions): Promise<Client> {
  const transport = await transportOf(of);
  const isChild = isStdio(of.server);
  const client = new Client(
    { name: "loopwright", version: "1.0.0" },
    {
      capabilities: {},
      jsonSchemaValidator: looseValidator,
      listMaxPages: 20,
      // The probe of a child would start it twice.
      ...(isChild ? {} : { versionNegotiation: { mode: "auto" } }),
      listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: onChange } },
    },
  );
  client.onclose = onClose;
  client.onerror = () => {};
  try {
    await client.connect(transport, { signal, timeout: of.limits.connectMs });
  } catch (error) {
    await client.close().catch(() => {});
    await transport.close().catch(() => {});
    throw error;
  }
  return client;
}

/** The transport of a server over HTTP, as a sign-in needs it. */
export async function httpTransport(of: ServerOfUser & { readonly server: McpHttpServer }): Promise<StreamableHTTPClientTransport> {
  const { server, place } = of;
  const authProvider = server.auth?.(place);
  return new StreamableHTTPClientTransport(new URL(server.url), {
    fetch: fetchOf(of),
    requestInit: { headers: await valuesOf(of, server.headers) },
    reconnectionOptions: { initialReconnectionDelay: 1_000, maxReconnectionDelay: 30_000, reconnectionDelayGrowFactor: 2, maxRetries: 2 },
    ...(authProvider ? { authProvider } : {}),
  });
}

function transportOf(of: ServerOfUser): Promise<Transport> {
  const { server } = of;
  return isStdio(server) ? stdioTransport({ ...of, server }) : httpTransport({ ...of, server });
}

async function stdioTransport(of: ServerOfUser & { readonly server: McpStdioServer }): Promise<Transport> {
  const { command, args = [], env, directory, stderr = "ignore" } = of.server;
  const variables = { ...inherited(), ...(await valuesOf(of, env)) };
  return new StdioTransport({ command, args, variables, directory, stderr, bytesMax: of.limits.answerBytesMax });
}

/** All that a child inherits: where programs are, and its user's folder. */
function inherited(): Readonly<Record<string, string>> {
  const listed = ["PATH", "HOME"].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { LANG: "C.UTF-8", ...Object.fromEntries(listed) };
}

function fetchOf({ server, limits, redaction, resolve }: ServerOfUser & { readonly server: McpHttpServer }): GuardedFetch {
  return guardedFetch({
    guard: urlGuard({ policy: server.policy, resolve }),
    answerBytesMax: limits.answerBytesMax,
    onAuthorization: (value) => redaction.add(value.replace(/^\S+ /, "")),
  });
}

/** The values with those of secrets in their places. @throws AgentError for a secret that is not stored */
async function valuesOf(
  { name, place, secrets, redaction }: ServerOfUser,
  values: Readonly<Record<string, McpValue>> = {},
): Promise<Record<string, string>> {
  const entries = Object.entries(values).map(async ([key, value]): Promise<readonly [string, string]> => {
    if (typeof value === "string") return [key, value];
    if (!secrets)
      throw new AgentError("CONFIG_INVALID", {
        message: `The MCP server \`${name}\` uses a secret, and no store of secrets is given.`,
        fix: "Pass `secrets`.",
      });
    const found = await secrets.get(place.scope, value.secret);
    if (found === undefined) throw mcpError("secret_missing", name, `: \`${value.secret.slice(0, 64)}\``);
    redaction.add(found);
    return [key, found];
  });
  return Object.fromEntries(await Promise.all(entries));
}
