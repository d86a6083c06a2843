import type { Access, Agent } from "@loopwright/core";
import type { Clock, EventChannel, IdSource, Logger, RunQueue, SessionStore } from "@loopwright/core/ports";
import type { ServerLimits } from "./server-limits.ts";

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

export interface ServerOptions {
  /** The first is the default. */
  readonly agents: readonly Agent[];
  readonly store: SessionStore;
  /** Default: one within this process. */
  readonly channel?: EventChannel;
  /**
   * `all`: sessions run in this process. `server`: it records what callers say and tells what happens, and workers (`createWorker`) run the
   * sessions. Default `all`.
   */
  readonly role?: "all" | "server";
  /** Tells workers of work; stays open when the server closes. Default: one within this process; none for the role `server`, whose workers look by themselves. */
  readonly queue?: RunQueue;
  /** Other processes share the store. Default: for the role `server`, and where there is a queue. A channel of this process alone is warned of then. */
  readonly isOneOfMany?: boolean;
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
  /** Parts of the product that a request may name as `activeModule`, with what the model is told there. */
  readonly modules?: { readonly [id: string]: { readonly prompt: string } };
  /** By agent: the models that callers may choose beside the agent's own. Default: none. */
  readonly models?: { readonly [agent: string]: readonly string[] };
  readonly limits?: Partial<ServerLimits>;
  /** How long the owner of a session may be silent before another node takes over, in milliseconds. Default 20,000. */
  readonly leaseMs?: number;
  readonly clock?: Clock;
  readonly ids?: IdSource;
  readonly logger?: Logger;
}
