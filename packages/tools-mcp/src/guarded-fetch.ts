/*
 * Owns: requests to a server over HTTP: each URL through the guard, each connection to the addresses that it checked, each answer within a limit.
 * Does not own: which URLs are allowed (url-guard), what is sent (the SDK). Redirects are answers like others: the SDK gives up on them.
 */
import { Agent as HttpAgent, type IncomingMessage, type RequestOptions, request as requestHttp } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { Readable, Transform } from "node:stream";
import type { AdmittedUrl, UrlGuard } from "@loopwright/url-guard";

export interface GuardedFetchOptions {
  readonly guard: UrlGuard;
  readonly answerBytesMax: number;
  /** Called with the value of each `authorization` header that is sent. */
  onAuthorization(value: string): void;
}

/** A `fetch` for the SDK. */
export type GuardedFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Agents of their own: no proxy of the environment, no connection that is shared with other code. */
const agents = { "http:": new HttpAgent({ keepAlive: false }), "https:": new HttpsAgent({ keepAlive: false, maxCachedSessions: 0 }) };
const headerBytesMax = 16_384;

export function guardedFetch({ guard, answerBytesMax, onAuthorization }: GuardedFetchOptions): GuardedFetch {
  return async (url, init) => {
    const { signal } = init ?? {};
    const request = new Request(url, init);
    const admitted = await guard.admit(new URL(request.url));
    signal?.throwIfAborted();
    const authorization = request.headers.get("authorization");
    if (authorization !== null) onAuthorization(authorization);
    const body = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer());
    const message = await send(admitted, { request, body, signal: signal ?? undefined });
    return responseOf(message, answerBytesMax);
  };
}

interface Sent {
  readonly request: Request;
  readonly body: Uint8Array | undefined;
  readonly signal: AbortSignal | undefined;
}

function send({ url, addresses }: AdmittedUrl, { request, body, signal }: Sent): Promise<IncomingMessage> {
  const isSecure = url.protocol === "https:";
  const name = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  const settings: RequestOptions & { servername?: string } = {
    host: name,
    port: Number(url.port) || (isSecure ? 443 : 80),
    path: `${url.pathname}${url.search}`,
    method: request.method,
    headers: { ...Object.fromEntries(request.headers), host: url.host, ...(body ? { "content-length": String(body.length) } : {}) },
    maxHeaderSize: headerBytesMax,
    agent: agents[isSecure ? "https:" : "http:"],
    lookup: lookupOf(addresses),
    ...(signal ? { signal } : {}),
    ...(isSecure && isIP(name) === 0 ? { servername: name } : {}),
  };
  return new Promise((resolve, reject) => {
    const sent = (isSecure ? requestHttps : requestHttp)(settings, resolve);
    sent.on("error", reject);
    sent.on("upgrade", (_, socket) => {
      socket.destroy();
      reject(new Error("The server switched to another protocol."));
    });
    sent.end(body);
  });
}

/** Answers with the addresses that the guard checked, without another look-up. */
function lookupOf(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_, options, done) => {
    const [first] = found;
    if (options.all) done(null, found);
    else done(null, first?.address ?? "", first?.family);
  };
}

function responseOf(message: IncomingMessage, answerBytesMax: number): Response {
  const headers = new Headers();
  for (const [name, value] of Object.entries(message.headersDistinct)) for (const one of value ?? []) headers.append(name, one);
  const status = message.statusCode ?? 500;
  if (status === 204 || status === 304) {
    message.resume();
    return new Response(null, { status, headers });
  }
  let left = answerBytesMax;
  const bounded = new Transform({
    transform(chunk: Buffer, _, done) {
      left -= chunk.length;
      if (left < 0) done(new Error(`The answer has more than ${answerBytesMax} bytes.`));
      else done(null, chunk);
    },
  });
  message.on("error", (error) => bounded.destroy(error));
  message.on("close", () => {
    if (!message.complete) bounded.destroy(new Error("The server closed the connection before the end of its answer."));
  });
  bounded.on("close", () => message.destroy());
  const body = Readable.toWeb(message.pipe(bounded)) as ReadableStream<Uint8Array>;
  return new Response(body, { status, headers });
}
