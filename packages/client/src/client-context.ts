import { type ClientClock, platformClock, platformFetch, platformRandom } from "./platform.ts";

export interface ClientOptions {
  /** Address of the server with its base path, for example `https://example.org/agents`. In a browser `""` is the page's own origin. */
  readonly url: string;
  /** Sent as `Authorization: Bearer`. A function is asked before each request. */
  readonly token?: string | (() => string | Promise<string>);
  /** The team that requests are in, of those that the caller belongs to. Default: the first one of the caller. */
  readonly scope?: string | undefined;
  readonly headers?: { readonly [name: string]: string };
  /** Default: the platform's. A server in the same process: `(request) => server.fetch(request, { remoteAddress: "127.0.0.1" })`. */
  readonly fetch?: (request: Request) => Promise<Response>;
  readonly clock?: ClientClock;
  /** Numbers in [0, 1) for jitter and ids. Default: `crypto`. */
  readonly random?: () => number;
}

/** What every part of a client works with. */
export interface ClientContext extends Required<Omit<ClientOptions, "token" | "scope" | "headers">> {
  readonly token: ClientOptions["token"];
  readonly scope: ClientOptions["scope"];
  readonly headers: ClientOptions["headers"];
}

/** The options with what is used where they name nothing. */
export function clientContext({ url, token, scope, headers, fetch, clock, random }: ClientOptions): ClientContext {
  return {
    url: url.replace(/\/+$/, ""),
    token,
    scope,
    headers,
    fetch: fetch ?? platformFetch,
    clock: clock ?? platformClock,
    random: random ?? platformRandom,
  };
}

const idChars = 26;

/** An unused id: 130 random bits, `[a-z2-7]`. */
export function newId({ random }: Pick<ClientContext, "random">): string {
  return Array.from({ length: idChars }, () => "abcdefghijklmnopqrstuvwxyz234567"[Math.floor(random() * 32)]).join("");
}
