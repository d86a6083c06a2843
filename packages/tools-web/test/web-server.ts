import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import type { DialTarget } from "../src/http/request-once.ts";

export interface TestServer {
  readonly origin: string;
  readonly port: number;
  /** Requests in order: host and path. */
  readonly requests: readonly { readonly host: string; readonly path: string; readonly headers: IncomingMessage["headers"] }[];
  /** Connections that were opened, with or without a request. */
  readonly connections: () => number;
  readonly server: Server;
}

/** A real server on loopback for the time of a test. */
export async function webServer(handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<TestServer> {
  const requests: { host: string; path: string; headers: IncomingMessage["headers"] }[] = [];
  let connections = 0;
  const listener: RequestListener = (request, response) => {
    requests.push({ host: request.headers.host ?? "", path: request.url ?? "", headers: request.headers });
    handle(request, response);
  };
  const server = createServer(listener);
  server.on("connection", () => connections++);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { origin: `http://127.0.0.1:${port}`, port, requests, connections: () => connections, server };
}

/** An address of the public web: the tests send its connections to a server on loopback. */
export const publicAddress = "93.184.216.34";

/** Sends connections for `publicAddress` to the server; every other address keeps its meaning, with the port of the trap if there is one. */
export function dialTo(server: TestServer, trap?: TestServer): (target: DialTarget) => DialTarget {
  return ({ address, port }) => {
    if (address === publicAddress) return { address: "127.0.0.1", port: server.port };
    return { address, port: trap?.port ?? port };
  };
}

export function html(response: ServerResponse, body: string, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(200, { "content-type": "text/html; charset=utf-8", ...headers });
  response.end(body);
}
