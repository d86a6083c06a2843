import type { Access } from "@loopwright/core";
import type { Host, HostOptions } from "@loopwright/host";
import type { HttpLimits, ServerLimits } from "./server-limits.ts";

/** Who sends a request, as authentication established it. */
export interface Principal extends Access {
  /** May send a system prompt, seeded messages and any model. Default false. */
  readonly trusted?: boolean;
}

/** Tells who sends a request; `undefined`: nobody this server knows. */
export type Authenticate = (request: Request) => Principal | undefined | Promise<Principal | undefined>;

/** A file of the page. */
export interface PageFile {
  readonly bytes: Uint8Array;
  /** The same bytes compressed, for whoever takes them so. */
  readonly gzip?: Uint8Array;
  readonly mediaType: string;
  /** The name holds a digest of the content: it may be kept for ever. */
  readonly immutable?: boolean;
}

/** What a server wants to know of requests. */
export interface HttpOptions {
  /**
   * Default: requests from this machine come from the trusted principal `local` of the scope `local`, all others are refused with 401. The
   * address is what the adapter says of the socket: `listen` and `requestListener` do, `fetch` alone knows none.
   */
  readonly authenticate?: Authenticate;
  /** Lets everybody in where there is no `authenticate`. Only callers from this machine are trusted. Default false. */
  readonly insecure?: boolean;
  /** Host names (with port where it is not the scheme's) that requests may name beside those of loopback. */
  readonly hosts?: readonly string[];
  /** Origins of pages elsewhere that may call. Default: none. */
  readonly origins?: readonly string[];
  /** Path in front of every route, for example `/agents`. Default: none. */
  readonly basePath?: string;
  /** The page, by path without a leading slash; the empty path is its start. */
  readonly page?: (path: string) => Promise<PageFile | undefined>;
  /** By agent: the models that callers may choose beside the agent's own. Default: none. */
  readonly models?: { readonly [agent: string]: readonly string[] };
  readonly limits?: Partial<HttpLimits>;
}

/** A server that makes its own host, and ends with it. */
export interface ServerOptions extends Omit<HostOptions, "role" | "limits">, Omit<HttpOptions, "limits"> {
  /**
   * `all`: sessions run in this process. `server`: it records what callers say and tells what happens, and workers (`createWorker`) run the
   * sessions. Default `all`.
   */
  readonly role?: "all" | "server";
  readonly limits?: Partial<ServerLimits>;
}

/** A server over a host that somebody else made, and ends. */
export interface HostedServerOptions extends HttpOptions {
  readonly host: Host;
}
