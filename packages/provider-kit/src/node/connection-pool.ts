import { Agent as HttpAgent, request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders, type RequestOptions } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import type { NodeHttpOptions } from "./node-http-options.ts";
import type { ProxyAddress, ProxyChoice } from "./proxy.ts";
import { decodedBody, webStreamOf } from "./response-body.ts";
import { keepTrailers } from "./response-trailers.ts";
import { TunnelAgent, type TunnelOptions } from "./tunnel-agent.ts";

/** The kept connections of one `nodeHttp()`: to servers, to proxies, and through tunnels. */
export class ConnectionPool {
  readonly #options: NodeHttpOptions;
  readonly #choose: ProxyChoice;
  readonly #kept;
  readonly #plain: HttpAgent;
  readonly #secure: HttpsAgent;
  readonly #tunnels = new Map<string, TunnelAgent>();

  constructor(options: NodeHttpOptions, choose: ProxyChoice) {
    this.#options = options;
    this.#choose = choose;
    this.#kept = {
      keepAlive: true,
      scheduling: "lifo",
      maxFreeSockets: options.idleSocketsMax ?? 1_024,
      ...(options.socketsMax === undefined ? {} : { maxSockets: options.socketsMax }),
    } as const;
    this.#plain = new HttpAgent(this.#kept);
    this.#secure = new HttpsAgent({ ...this.#kept, ...options.tls });
  }

  async fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const call = await callOf(input, init);
    call.signal?.throwIfAborted();
    const addresses = await this.#options.addressesOf?.(call.url);
    const route = { ...this.#routeOf(call), ...(addresses ? { lookup: lookupAmong(addresses) } : {}) };
    const request = { ...route, method: call.method, headers: headerLines(call, route.headers as OutgoingHttpHeaders | undefined) };
    const response = await sendOnce(request, call).catch((error: unknown) => {
      if (!(error instanceof LostOnReusedSocket)) throw error;
      // A socket of its own cannot have gone stale; a tunnel has no such way and takes what its pool gives.
      const fresh = request.agent instanceof TunnelAgent ? request : { ...request, ...this.#options.tls, agent: false as const };
      return sendOnce(fresh, { ...call, isLastTry: true });
    });
    if (init?.redirect === "error" && response.status >= 300 && response.status < 400 && response.headers.has("location")) {
      await response.body?.cancel();
      throw new TypeError("fetch failed", { cause: new Error("unexpected redirect") });
    }
    return response;
  }

  close(): void {
    for (const agent of [this.#plain, this.#secure, ...this.#tunnels.values()]) agent.destroy();
  }

  #tunnelFor(address: ProxyAddress): TunnelAgent {
    let agent = this.#tunnels.get(address.url.href);
    if (agent === undefined) {
      agent = new TunnelAgent(address, { ...this.#kept, ...this.#options.tls });
      this.#tunnels.set(address.url.href, agent);
    }
    return agent;
  }

  #routeOf({ url, signal }: Call): RequestOptions & TunnelOptions {
    const address = this.#choose(url);
    const path = url.pathname + url.search;
    const target = { protocol: url.protocol, hostname: bareHost(url), port: url.port, path };
    if (url.protocol === "https:") {
      return address === undefined
        ? { ...target, agent: this.#secure }
        : { ...target, agent: this.#tunnelFor(address), ...(signal ? { tunnelSignal: signal } : {}) };
    }
    if (address === undefined) return { ...target, agent: this.#plain };
    const authorization = address.authorization === undefined ? {} : { "proxy-authorization": address.authorization };
    return {
      protocol: address.url.protocol,
      hostname: bareHost(address.url),
      port: address.url.port,
      path: url.href,
      agent: address.url.protocol === "https:" ? this.#secure : this.#plain,
      headers: { host: url.host, ...authorization },
    };
  }
}

/** The look-up of a name whose addresses are known. A host that is an address has no look-up. */
function lookupAmong(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  return (name, { all }, done) => {
    const [first] = found;
    if (!first) done(new Error(`${name} has no address that may be used.`), "", 0);
    else if (all) done(null, found);
    else done(null, first.address, first.family);
  };
}

interface Call {
  readonly url: URL;
  readonly method: string;
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
  readonly signal: AbortSignal | undefined;
  readonly isLastTry?: boolean;
}

async function callOf(input: string | URL | Request, init: RequestInit = {}): Promise<Call> {
  const simple = !(input instanceof Request) && (init.body === undefined || init.body === null || isPlainBody(init.body));
  // Forms, blobs and streams are put into bytes, with their content type, by the platform.
  const source = simple ? init : new Request(input, init.body instanceof ReadableStream ? { ...init, duplex: "half" } : init);
  const body = simple ? (init.body as string | Uint8Array | null | undefined) : await bytesOf(source as Request);
  const headers: Record<string, string> = { accept: "*/*", "accept-encoding": "gzip, deflate, br" };
  if (simple && typeof body === "string") headers["content-type"] = "text/plain;charset=UTF-8";
  addHeaders(headers, source.headers);
  const url = input instanceof Request ? input.url : input;
  return {
    url: url instanceof URL ? url : new URL(url),
    method: (source.method ?? "GET").toUpperCase(),
    headers,
    body: body ?? undefined,
    signal: init.signal ?? (input instanceof Request ? input.signal : undefined),
  };
}

/** Adds what was given: checked and put in order by the platform, unless it is a record of plain names and texts, as of a provider's own requests. */
function addHeaders(headers: Record<string, string>, given: RequestInit["headers"]): void {
  if (isPlainRecord(given)) Object.assign(headers, given);
  else for (const [name, value] of given instanceof Headers ? given : new Headers(given)) headers[name] = value;
}

/** `node:http` refuses a value that is none of a header's; it does not join two names that differ in their letters' case. */
function isPlainRecord(given: RequestInit["headers"]): given is Record<string, string> {
  if (given === undefined || given instanceof Headers || Symbol.iterator in given) return false;
  for (const name in given)
    if (!plainName.test(name) || typeof given[name] !== "string" || given[name].trim() !== given[name]) return false;
  return true;
}

const plainName = /^[a-z0-9-]+$/;

/** As the lines of the request, names and values in turn, which `node:http` writes as they are: a header set one by one costs it four times as much. */
function headerLines({ url, method, headers, body }: Call, routed: OutgoingHttpHeaders = {}): string[] {
  const lines = ["host", headers["host"] ?? url.host];
  for (const name in headers) if (!ofTheConnection.has(name)) lines.push(name, headers[name] as string);
  for (const name in routed) if (name !== "host") lines.push(name, String(routed[name]));
  const size = body === undefined ? undefined : Buffer.byteLength(body);
  if (size !== undefined || !bodilessMethods.has(method)) lines.push("content-length", String(size ?? 0));
  return lines;
}

/** What follows from the address and the body, whatever a caller wrote. */
const ofTheConnection: ReadonlySet<string> = new Set(["host", "content-length", "transfer-encoding"]);
const bodilessMethods: ReadonlySet<string> = new Set(["GET", "HEAD", "DELETE", "OPTIONS", "TRACE"]);

function isPlainBody(body: unknown): body is string | Uint8Array {
  return typeof body === "string" || body instanceof Uint8Array;
}

async function bytesOf(request: Request): Promise<Uint8Array | undefined> {
  return request.body === null ? undefined : new Uint8Array(await request.arrayBuffer());
}

/** The server closed an idle socket just when it was used again; nothing had been answered. */
class LostOnReusedSocket extends Error {}

function sendOnce(options: RequestOptions, call: Call): Promise<Response> {
  const { signal } = call;
  return new Promise<Response>((resolve, reject) => {
    const request = options.protocol === "https:" ? httpsRequest(options) : httpRequest(options);
    const abort = (): void => {
      request.destroy();
      // A request without a socket (queued, or waiting for a tunnel) does not report its end by itself.
      fail(signal?.reason);
    };
    const settled = (): void => signal?.removeEventListener("abort", abort);
    signal?.addEventListener("abort", abort, { once: true });
    request.once("response", (message) => {
      request.off("error", fail);
      // What breaks from now on shows on the message.
      request.on("error", () => undefined);
      try {
        resolve(responseOf(message, call, settled));
      } catch (error) {
        request.destroy();
        fail(error);
      }
    });
    const fail = (error: unknown): void => {
      settled();
      if (signal?.aborted) reject(signal.reason);
      else if (request.reusedSocket && !call.isLastTry && isReset(error)) reject(new LostOnReusedSocket("", { cause: error }));
      else reject(new TypeError("fetch failed", { cause: error }));
    };
    request.on("error", fail);
    request.end(call.body);
  });
}

function isReset(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ECONNRESET" || error.code === "EPIPE");
}

function responseOf(message: IncomingMessage, call: Call, settled: () => void): Response {
  const status = message.statusCode ?? 0;
  const headers = new Headers();
  for (let at = 0; at + 1 < message.rawHeaders.length; at += 2) {
    headers.append(message.rawHeaders[at] as string, message.rawHeaders[at + 1] as string);
  }
  const bodiless = call.method === "HEAD" || status === 204 || status === 205 || status === 304;
  let body: ReadableStream<Uint8Array> | null = null;
  if (bodiless) {
    message.resume();
    settled();
  } else {
    const decoded = decodedBody(message);
    if (decoded !== message) for (const name of ["content-encoding", "content-length"]) headers.delete(name);
    body = webStreamOf(decoded, call.signal, settled);
  }
  const response = new Response(body, { status, statusText: message.statusMessage ?? "", headers });
  Object.defineProperty(response, "url", { value: call.url.href });
  keepTrailers(response, message);
  return response;
}

function bareHost(url: URL): string {
  return url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname;
}
