import { request as httpRequest } from "node:http";
import { type AgentOptions, Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { Duplex } from "node:stream";
import { type ConnectionOptions, connect, type TLSSocket } from "node:tls";
import { AgentError } from "@loopwright/core";

/** Where a proxy listens. */
export interface ProxyAddress {
  readonly url: URL;
  /** The header that authorises us, where the address holds a name. */
  readonly authorization?: string;
}

/** Which proxy a request takes; `undefined` for none. */
export type ProxyChoice = (url: URL) => ProxyAddress | undefined;

/**
 * The choice by the usual variables: HTTPS_PROXY or HTTP_PROXY by the address's protocol, ALL_PROXY for both, upper or lower
 * case, and none for what NO_PROXY names (`*`, a host with its subdomains, a host with a port).
 * @throws AgentError CONFIG_INVALID when a variable is no http or https address.
 */
export function proxyFromEnvironment(environment: Readonly<Record<string, string | undefined>>): ProxyChoice {
  const read = (name: string): string | undefined => environment[name.toLowerCase()] || environment[name] || undefined;
  const all = read("ALL_PROXY");
  const http = addressOf(read("HTTP_PROXY") ?? all, "HTTP_PROXY");
  const https = addressOf(read("HTTPS_PROXY") ?? all, "HTTPS_PROXY");
  const spared = (read("NO_PROXY") ?? "")
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== "");
  return (url) => {
    const proxy = url.protocol === "https:" ? https : http;
    return proxy === undefined || spared.some((entry) => isSpared(url, entry)) ? undefined : proxy;
  };
}

/** The same proxy for every request. @throws AgentError CONFIG_INVALID when it is no http or https address. */
export function fixedProxy(address: string): ProxyChoice {
  const proxy = addressOf(address, "proxy");
  return () => proxy;
}

function addressOf(text: string | undefined, name: string): ProxyAddress | undefined {
  if (text === undefined) return undefined;
  const url = URL.parse(text.includes("://") ? text : `http://${text}`);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw new AgentError("CONFIG_INVALID", {
      message: `The proxy address in \`${name}\` cannot be used.`,
      fix: "Give it as http://host:port or https://host:port; SOCKS is not supported.",
    });
  }
  if (url.username === "") return { url };
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return { url, authorization: `Basic ${Buffer.from(credentials).toString("base64")}` };
}

function isSpared(url: URL, entry: string): boolean {
  if (entry === "*") return true;
  const [, host = "", port] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
  if (port !== undefined && port !== (url.port || (url.protocol === "https:" ? "443" : "80"))) return false;
  const name = url.hostname.toLowerCase();
  const bare = host.replace(/^\*?\./, "");
  return name === bare || name.endsWith(`.${bare}`);
}

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
