import { createServer as createHttpServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { AgentError } from "@loopwright/core";
import { isLoopbackHost } from "../http/check-host.ts";
import type { Listenable } from "../http/listenable.ts";
import { cutHalfOpen } from "./cut-silent-connections.ts";
import { refuseClient, refuseExpectation } from "./refuse-client.ts";
import { listenerFor } from "./request-listener.ts";

export interface ListenOptions {
  /** Default `127.0.0.1`, which other machines cannot reach. */
  readonly host?: string;
  /** Default 0: a free port. */
  readonly port?: number;
  /** Admits every caller that can reach the host if the server has no `authenticate`. */
  readonly insecure?: boolean;
  readonly limits?: Partial<ConnectionLimits>;
}

/** A server that listens. */
export interface Listening {
  /** The address of the server, with its base path and without a slash at the end. */
  readonly url: string;
  /** Takes no new connections, gives open requests a moment, then cuts their connections. Close the server first, which ends the streams. */
  close(): Promise<void>;
}

/** Limits of the connections. */
export interface ConnectionLimits {
  readonly headerBytes: number;
  readonly headersMs: number;
  /** Headers and body together. `bodyMs` and `fileMs` of the server give bodies less time. */
  readonly requestMs: number;
  /** How often the two limits above are checked. */
  readonly checkMs: number;
  readonly keepAliveMs: number;
  /**
   * A connection without progress for that long is cut, even if data waits. Streams are pinged more often; on Linux a ping that the other side does
   * not acknowledge is no progress.
   */
  readonly silentMs: number;
  readonly connections: number;
  readonly requestsPerConnection: number;
  /** How long open requests may take after `close`. */
  readonly graceMs: number;
}

export const defaultConnectionLimits: ConnectionLimits = {
  headerBytes: 16 * 1024,
  headersMs: 10_000,
  requestMs: 75_000,
  checkMs: 2_000,
  keepAliveMs: 10_000,
  silentMs: 60_000,
  connections: 10_000,
  requestsPerConnection: 10_000,
  graceMs: 5_000,
};

/**
 * Serves over HTTP on Node.js. @throws AgentError CONFIG_INVALID for a host that other machines can reach without authentication, unless
 * `insecure` is set; and if the address cannot be used
 */
export async function listen(server: Listenable, options: ListenOptions = {}): Promise<Listening> {
  const { host = "127.0.0.1", port = 0, insecure = false } = options;
  const isExposed = !isLoopbackHost(host.includes(":") ? `[${host}]` : host);
  if (isExposed && !server.hasAuthentication && !insecure)
    throw new AgentError("CONFIG_INVALID", {
      message: `The host \`${host}\` is reachable from other machines, and the server does not authenticate its callers.`,
      fix: "Pass `authenticate` to `createServer`, or set `insecure` if every caller may use it.",
    });
  const limits = { ...defaultConnectionLimits, ...options.limits };
  const http = createNodeServer(server, isExposed, limits);
  await begin(http, host, port);
  const address = http.address() as AddressInfo;
  let closing: Promise<void> | undefined;
  return {
    url: `http://${hostText(host, address)}:${address.port}${server.basePath}`,
    close() {
      closing ??= end(http, limits);
      return closing;
    },
  };
}

function createNodeServer(server: Listenable, isExposed: boolean, limits: ConnectionLimits): Server {
  const http = createHttpServer(
    {
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      connectionsCheckingInterval: limits.checkMs,
      keepAliveTimeout: limits.keepAliveMs,
      noDelay: true,
      // Otherwise Node.js answers by itself, without the headers of this server.
      requireHostHeader: false,
    },
    listenerFor(server, isExposed),
  );
  http.timeout = limits.silentMs;
  cutHalfOpen(http, limits.silentMs);
  http.maxConnections = limits.connections;
  http.maxRequestsPerSocket = limits.requestsPerConnection;
  http.on("clientError", refuseClient);
  http.on("checkExpectation", refuseExpectation);
  return http;
}

function begin(http: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    http.once("error", (cause: NodeJS.ErrnoException) => {
      const isTaken = cause.code === "EADDRINUSE";
      const message = isTaken
        ? `The port ${port} of \`${host}\` is taken.`
        : `\`${host}\`, port ${port}, cannot be listened on: ${cause.code ?? cause.name}.`;
      reject(
        new AgentError("CONFIG_INVALID", {
          message,
          fix: isTaken ? "Choose another port, or end the process that has it." : "Choose another host or port.",
          cause,
        }),
      );
    });
    http.listen({ host, port }, resolve);
  });
}

function end(http: Server, { graceMs }: ConnectionLimits): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => http.closeAllConnections(), graceMs);
    cut.unref();
    http.close(() => {
      clearTimeout(cut);
      resolve();
    });
    http.closeIdleConnections();
  });
}

/** The address in a form that a browser can open. */
function hostText(host: string, { family }: AddressInfo): string {
  if (host === "0.0.0.0" || host === "::") return "localhost";
  return family === "IPv6" && host.includes(":") ? `[${host}]` : host;
}
