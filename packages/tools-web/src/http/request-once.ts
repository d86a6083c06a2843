import { Agent as HttpAgent, type IncomingMessage, type RequestOptions, request as requestHttp } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import { isIP } from "node:net";

/** Where a connection goes: the address that the guard checked, and the port of the URL. */
export interface DialTarget {
  readonly address: string;
  readonly port: number;
}

export interface RequestOnceOptions {
  readonly address: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly headerBytesMax: number;
  readonly signal: AbortSignal;
  /** Sends a connection somewhere else: for tests, which own no public address. */
  readonly dial?: ((target: DialTarget) => DialTarget) | undefined;
}

/** Agents of their own: no proxy of the environment, no connection that is shared with other code. */
const agents = { "http:": new HttpAgent({ keepAlive: false }), "https:": new HttpsAgent({ keepAlive: false, maxCachedSessions: 0 }) };

/** Sends one GET to this very address, with the name of the URL in `Host` and in TLS. Redirects are answers like others. */
export function requestOnce(url: URL, options: RequestOnceOptions): Promise<IncomingMessage> {
  const isSecure = url.protocol === "https:";
  const port = Number(url.port) || (isSecure ? 443 : 80);
  const target = options.dial?.({ address: options.address, port }) ?? { address: options.address, port };
  const name = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  const settings: RequestOptions & { servername?: string } = {
    host: target.address,
    port: target.port,
    path: `${url.pathname}${url.search}`,
    method: "GET",
    headers: { ...options.headers, host: url.host },
    maxHeaderSize: options.headerBytesMax,
    agent: agents[isSecure ? "https:" : "http:"],
    signal: options.signal,
    ...(isSecure && isIP(name) === 0 ? { servername: name } : {}),
  };
  return new Promise((resolve, reject) => {
    const request = (isSecure ? requestHttps : requestHttp)(settings, resolve);
    request.on("error", reject);
    request.on("upgrade", (_, socket) => {
      socket.destroy();
      reject(new Error("The server switched to another protocol."));
    });
    request.on("close", () => reject(new Error("The server closed the connection without an answer.")));
    request.end();
  });
}
