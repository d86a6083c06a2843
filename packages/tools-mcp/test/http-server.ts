/** MCP servers by the SDK of the protocol, on loopback. */
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { createMcpHandler, type McpHttpHandler, type McpServerFactory } from "@modelcontextprotocol/server";

export interface ServedMcp {
  readonly url: string;
  readonly origin: string;
  readonly handler: McpHttpHandler;
  /** Headers of each request, oldest first. */
  readonly requests: IncomingMessage["headers"][];
  close(): Promise<void>;
}

/** Serves a factory, and what `before` answers first. */
export async function serveMcp(
  factory: McpServerFactory,
  before?: (request: Request) => Promise<Response | undefined>,
): Promise<ServedMcp> {
  const handler = createMcpHandler(factory);
  const requests: IncomingMessage["headers"][] = [];
  const server: Server = createServer((incoming, outgoing) => {
    requests.push(incoming.headers);
    const left = new AbortController();
    outgoing.on("close", () => left.abort());
    const hasBody = incoming.method !== "GET" && incoming.method !== "HEAD";
    const request = new Request(`http://${incoming.headers.host}${incoming.url}`, {
      method: incoming.method ?? "GET",
      headers: Object.entries(incoming.headers).map(([name, value]): [string, string] => [name, String(value)]),
      signal: left.signal,
      ...(hasBody ? { body: Readable.toWeb(incoming) as ReadableStream<Uint8Array>, duplex: "half" as const } : {}),
    });
    void (async () => {
      const answer = (await before?.(request)) ?? (await handler.fetch(request));
      outgoing.writeHead(answer.status, Object.fromEntries(answer.headers));
      if (answer.body) for await (const chunk of answer.body) outgoing.write(chunk);
      outgoing.end();
    })().catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    ...{ url: `${origin}/mcp`, origin, handler, requests },
    async close() {
      await handler.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
