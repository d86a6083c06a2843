import { request as httpRequest } from "node:http";
import { type AgentOptions, Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { Duplex } from "node:stream";
import { type ConnectionOptions, connect, type TLSSocket } from "node:tls";
import { AgentError } from "@loopwright/core";
import type { ProxyAddress } from "./proxy.ts";

/** What a request through a tunnel may add to its options. */
export interface TunnelOptions {
  /** Ends the digging of the tunnel, never the tunnel: other requests will use it. Not `signal`, which Node keeps from agents. */
  readonly tunnelSignal?: AbortSignal;
}

/** Keep-alive connections to TLS servers through a proxy's tunnel (CONNECT). */
export class TunnelAgent extends HttpsAgent {
  readonly #proxy: ProxyAddress;

  constructor(proxy: ProxyAddress, options: AgentOptions) {
    super(options);
    this.#proxy = proxy;
  }

  override createConnection(options: ConnectionOptions & TunnelOptions, done?: (error: Error | null, stream: Duplex) => void): null {
    const { url, authorization } = this.#proxy;
    const { tunnelSignal: signal, ...tlsOptions } = options;
    const host = `${options.host}:${options.port ?? 443}`;
    const tunnel = (url.protocol === "https:" ? httpsRequest : httpRequest)({
      hostname: url.hostname,
      port: url.port,
      method: "CONNECT",
      path: host,
      agent: false,
      headers: { host, ...(authorization === undefined ? {} : { "proxy-authorization": authorization }) },
    });
    // The callback's second argument has no meaning beside an error.
    const abort = (): void => {
      tunnel.destroy(new Error("aborted"));
      secured?.destroy(new Error("aborted"));
    };
    const fail = (error: Error): void => {
      signal?.removeEventListener("abort", abort);
      (done as ((error: Error) => void) | undefined)?.(error);
    };
    let secured: TLSSocket | undefined;
    signal?.addEventListener("abort", abort, { once: true });
    tunnel.once("error", fail);
    tunnel.once("connect", (response, socket) => {
      tunnel.off("error", fail);
      if (response.statusCode !== 200) {
        socket.destroy();
        fail(tunnelRefused(response.statusCode));
        return;
      }
      const stream = connect({ ...tlsOptions, socket, host: undefined, path: undefined });
      secured = stream;
      stream.once("error", fail);
      stream.once("secureConnect", () => {
        stream.off("error", fail);
        signal?.removeEventListener("abort", abort);
        done?.(null, stream);
      });
    });
    // Any other answer than a tunnel comes as a response.
    tunnel.once("response", (response) => {
      response.destroy();
      fail(tunnelRefused(response.statusCode));
    });
    tunnel.end();
    return null;
  }
}

function tunnelRefused(status: number | undefined): AgentError {
  return new AgentError("MODEL_UNREACHABLE", {
    message: `The proxy refused the connection with status ${status ?? "unknown"}.`,
    fix: "Check the proxy's address, its user name and whether it may reach the vendor.",
    // A proxy that does not know us will not know us the next time.
    ...(status === 407 ? { retryable: false } : {}),
  });
}
