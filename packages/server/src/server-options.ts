import type { Access, Json, JsonSchema } from "@loopwright/core";
import type { ApprovalMemory, Logger, SessionSummary } from "@loopwright/core/ports";
import type { Host, HostOptions } from "@loopwright/host";
import type { Action } from "./actions-to-authorize.ts";
import type { HttpLimits, ServerLimits } from "./server-limits.ts";
import type { StreamDialect } from "./stream-dialect.ts";

/** A scope that a user belongs to, with the roles and labels of the user in it. */
export type Membership = Pick<Access, "scope" | "roles" | "labels">;

/** The sender of a request, as authentication established it. */
export interface Principal extends Access {
  /** May send a system prompt, seeded messages and any model. Default false; never in a scope of `memberships`. */
  readonly trusted?: boolean;
  /**
   * Further scopes of the user: a request is in the scope that its `X-Scope` names, otherwise in `scope`. `"any"`: a service that may name every
   * scope. Default: none.
   */
  readonly memberships?: readonly Membership[] | "any";
  /** When the credentials end, in milliseconds since the epoch: requests are refused from then on, and open streams end. Default: never. */
  readonly expiresAt?: number;
}

/** The facts about the other end of a connection that the transport has. */
export interface Caller {
  /** True if only this machine can send from the address of the socket. */
  readonly isLocal: boolean;
  /** True if the operator has opened the server to callers from other machines. */
  readonly isExposed: boolean;
}

/** Returns the sender of a request; `undefined`: the request is refused with 401. It may be called again with the same request while a stream is open. */
export type Authenticate = (request: Request, caller: Caller) => Principal | undefined | Promise<Principal | undefined>;

/** True if a principal may see a session in lists, searches and hints. `session` is the summary that a list would show, so the session need not be read. */
export type MaySee = (principal: Principal, session: SessionSummary) => boolean | Promise<boolean>;

/** An uploaded file. */
export interface KnownFile {
  /** Its name in messages and addresses. */
  readonly blob: string;
  readonly mediaType: string;
  readonly sizeBytes: number;
  /** The name that its uploader gave. */
  readonly name?: string;
  /** When it was uploaded first, in milliseconds since the epoch. */
  readonly at: number;
  /** The user that uploaded it first. */
  readonly by: string;
}

/** True if a principal may see a file of its scope in the list of files. */
export type MaySeeFile = (principal: Principal, file: KnownFile) => boolean | Promise<boolean>;

/** Login by cookie, for the page. */
export interface CookieOptions {
  /** How long a login lasts, in milliseconds. It ends earlier if the credentials of the sign-in do. Default 12 hours. */
  readonly ageMs?: number;
  /** True if cookies are sent over TLS only. Default: true if the page of the sign-in was opened over TLS. */
  readonly secure?: boolean;
}

/** The values that a label may have: any, those listed, or those for which a function does not throw an AgentError. */
export type LabelRule = "any" | readonly string[] | ((value: string, principal: Principal) => void);

export interface AuditContext {
  readonly principal: Principal;
  readonly logger: Logger;
}

/**
 * True if a principal may do an action, on the session if the action concerns one. Any result but `true` refuses: with 404 if the caller may not
 * do `session.read` either, otherwise with 403. An error that it throws is logged and refuses with 500; no verdict within `limits.authenticateMs`
 * refuses with 503.
 */
export type Authorize = (principal: Principal, action: Action, session: string | undefined) => boolean | Promise<boolean>;

/** A file of the page. */
export interface PageFile {
  readonly bytes: Uint8Array;
  /** The same bytes compressed, for clients that accept gzip. */
  readonly gzip?: Uint8Array;
  readonly mediaType: string;
  /** True if the name holds a digest of the content, so that caches may keep the file for ever. */
  readonly immutable?: boolean;
}

/** A request to an extension route, after the checks that all requests pass. */
export interface ExtensionContext {
  /** If the route has the option `body`, the body has been read: see `body`. */
  readonly request: Request;
  readonly principal: Principal;
  /** Decoded values of `:name` in the path. */
  readonly params: { readonly [name: string]: string };
  readonly query: URLSearchParams;
  /** Parsed for `body: "json"`, a `Uint8Array` for `body: "bytes"`, else `undefined`. */
  readonly body: Json | Uint8Array | undefined;
  /** Aborted when the caller has gone, and after `timeoutMs`. */
  readonly signal: AbortSignal;
  /** Address of the built-in routes for `fetch`, base path included: the `url` of a client. */
  readonly url: string;
  /**
   * Sends a request to the built-in routes of this server as the same principal, in process: `createClient({ url, fetch })` gives a client.
   * `authorize` is asked as for any request; rate limits do not count it again. Extension routes cannot be reached. Never rejects.
   */
  fetch(request: Request): Promise<Response>;
}

/** A route of the application beside the built-in ones. */
export interface ExtensionRoute {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Below `basePath`, with `:name` for a segment that varies: `/api/reports/:id`. Not a path of a built-in route. */
  readonly path: string;
  /** Letters, digits, `-` and `_`. `authorize` is asked about the action `extension.<id>`. */
  readonly id: string;
  /** For `/openapi.json`. Default: the id. */
  readonly summary?: string;
  /** For `/openapi.json`: the status of a good answer (default 200), and the JSON Schemas of the body and of the answer. They check nothing. */
  readonly describes?: { readonly status?: number; readonly body?: JsonSchema; readonly response?: JsonSchema };
  /** How the body is read: as JSON up to `limits.bodyBytes`, or as bytes up to `limits.fileBytes`. Default: it is not read. */
  readonly body?: "json" | "bytes";
  /** How long `handle` may take until its response begins, in milliseconds. Default 30,000; then the answer is 504. */
  readonly timeoutMs?: number;
  /**
   * Answers the request. An `AgentError` that it throws becomes its problem document; every other error is logged with its cause and answered
   * with 500, without its text.
   */
  handle(context: ExtensionContext): Response | Promise<Response>;
}

/** The options of a server, without those of its host. */
export interface HttpOptions {
  /**
   * Default: requests from this machine come from the trusted principal `local` of the scope `local`, all others are refused with 401. The
   * address comes from the socket, through the adapter: `listen` and `requestListener` pass it, `fetch` alone has none.
   */
  readonly authenticate?: Authenticate;
  /** Asked after `authenticate` for each request and stream, before anything of the session is read. Default: a principal may do everything in its scope. */
  readonly authorize?: Authorize;
  /**
   * Asked about each session of a list, a search or a stream of notifications; children are seen with their parent. An error that it throws is logged, and the
   * session is left out. Default: a principal may see all sessions of its scope.
   */
  readonly maySee?: MaySee;
  /**
   * Asked about each file of the list of files. An error that it throws is logged, and the file is left out. Default: all files of
   * the scope; with `maySee`, only files that the principal uploaded, because another file may belong to a hidden session.
   */
  readonly maySeeFile?: MaySeeFile;
  /** Lets callers of `authenticate` sign in with a cookie (`POST /api/login`). Default: no cookies. */
  readonly cookies?: boolean | CookieOptions;
  /** Routes of the application beside the built-in ones, behind the same checks. Default: none. */
  readonly routes?: readonly ExtensionRoute[];
  /**
   * Further lines of `/metrics`, in the text format of Prometheus, about all scopes. Only an operator gets them: a trusted principal, or one that
   * `authorize` permits `server.metrics`. An error is logged, and the rest is served. Default: none.
   */
  readonly metrics?: () => string | Promise<string>;
  /** Without `authenticate`: admits every caller. Only callers from this machine are trusted. Default false. */
  readonly insecure?: boolean;
  /** Host names that requests may use beside those of loopback, with the port unless it is the default of the scheme. */
  readonly hosts?: readonly string[];
  /** Other origins whose pages may send requests. Default: none. */
  readonly origins?: readonly string[];
  /** Path in front of every route, for example `/agents`. Default: none. */
  readonly basePath?: string;
  /** The page, by path without a leading slash; the empty path is its start. */
  readonly page?: (path: string) => Promise<PageFile | undefined>;
  /** By agent: the models that callers may choose beside the agent's own. Default: none. */
  readonly models?: { readonly [agent: string]: readonly string[] };
  /**
   * Labels that requests may put on an input, each with the rule of its values. Requests send them as `options.labels`; `surface`, `activeModule`, `modes`,
   * `toolsRequired`, `attachments` and `chatbotId` may also be fields of `options`. `modes` and `attachments` are lists: the rule holds for each item. Any
   * other label is refused with 400. These are not the labels of the caller, which its principal has. Default: `surface` with any value, and `toolsRequired`.
   */
  readonly labels?: { readonly [name: string]: LabelRule };
  /** Called with each JSON body before it is checked, for a log of what callers try. It must be quick, and may throw an AgentError to refuse the request. */
  readonly auditBody?: (body: Json, context: AuditContext) => void;
  /** The dialects for `?dialect=<name>` of `/api/notifications`. Default: none. */
  readonly dialects?: readonly StreamDialect[];
  /** The name of the dialect for each `streamVersion` that requests may name. Default: none, so that a request with one is refused with 400. */
  readonly streamVersions?: { readonly [version: number]: string };
  /**
   * Remembers decisions for later calls: `memory` of `createApprovals` (`@loopwright/approvals`), whose `hooks` the agents have. Default: none, so
   * that a decision which asks for it is refused with 400.
   */
  readonly approvals?: ApprovalMemory;
  readonly limits?: Partial<HttpLimits>;
}

/** A server that makes its own host, and ends with it. */
export interface ServerOptions extends Omit<HostOptions, "role" | "limits">, Omit<HttpOptions, "limits"> {
  /**
   * `all`: sessions run in this process. `server`: it records inputs and streams events, and workers (`createWorker`) run the
   * sessions. Default `all`.
   */
  readonly role?: "all" | "server";
  readonly limits?: Partial<ServerLimits>;
}

/** A server over a host that the application made and closes. */
export interface HostedServerOptions extends HttpOptions {
  readonly host: Host;
}
