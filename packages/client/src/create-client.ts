import type { ExecuteInput, ExecuteStream, Notification } from "@loopwright/core/protocol";
import { type ApprovalRequests, createApprovalRequests } from "./approval-requests.ts";
import { type ClientOptions, clientContext } from "./client-context.ts";
import { type ClientExecuteOptions, executeRemotely } from "./execute/remote-execution.ts";
import { requestJson, sendRequest } from "./send-request.ts";
import { createSessionRequests, queryOf, type RequestOptions, type SessionRequests } from "./session-requests.ts";
import { createProviderRequests, createSettingsRequests, type ProviderRequests, type SettingsRequests } from "./settings-requests.ts";
import { followNotifications, type NotificationEvent, type NotificationsOptions } from "./stream/follow-notifications.ts";
import { type FollowedEvent, type FollowOptions, followSession } from "./stream/follow-session.ts";

/** A tool as a server shows it. */
export interface ToolCard {
  readonly name: string;
  readonly label?: string;
  readonly description: string;
  readonly home: "server" | "client";
  /** Present where its calls do not count against `limits.toolCallsMax`. */
  readonly counts?: false;
}

/** An agent as a server shows it. */
export interface AgentCard {
  readonly name: string;
  readonly description?: string;
  /** Its default model. */
  readonly model: string;
  /** Those that a caller may choose. */
  readonly models: readonly string[];
  /** By model, where it is known: the tokens that prompt and answer may have together. */
  readonly contextTokens?: { readonly [model: string]: number };
  /** What one run may use, its children included; 0: no limit. Absent: the server is older. */
  readonly limits?: AgentLimits;
  readonly tools: readonly ToolCard[];
}

/** The limits of one run of an agent; 0: no limit. */
export interface AgentLimits {
  readonly turnsMax: number;
  readonly toolCallsMax: number;
  readonly tokensMax: number;
  readonly costUsdMax: number;
  /** In milliseconds, without the time that the run waits for people. */
  readonly durationMs: number;
}

/** A file that the server keeps: name it in a message as `{ type: "image" | "file", mediaType, name, source: { blob } }`. */
export interface UploadedFile {
  readonly blob: string;
  readonly mediaType: string;
  readonly sizeBytes: number;
  readonly name?: string;
}

/** A file of a list. */
export interface ListedFile extends UploadedFile {
  /** When it was uploaded first, and by which user. */
  readonly at: number;
  readonly by: string;
}

/** The caller, as the server knows it. */
export interface CallerAccess {
  readonly user: string;
  readonly scope: string;
  readonly roles?: readonly string[];
  /** The teams that `scope` of a client may name, the current one first. */
  readonly scopes: readonly string[];
  /** When the credentials end, in milliseconds since the epoch. Absent: never. */
  readonly expiresAt?: number;
  /** Whether the server has sessions by cookie. */
  readonly cookies: boolean;
  /** The ids of the routes that the application has added: a page shows what they are for. */
  readonly extensions?: readonly string[];
}

/** A document of the knowledge base, without its text. */
export interface KnownDocument {
  readonly id: string;
  readonly title: string;
  readonly kind: string;
  readonly passageCount: number;
}

/** A server of Loopwright, as its callers use it. */
export interface LoopwrightClient {
  /**
   * Sends an input and watches its run, over any number of connections, as `execute` does in process. Begins at once; the session's id is
   * known at once too, a new one is made here. Tools with `execute` run here.
   */
  execute(input: ExecuteInput, options?: ClientExecuteOptions): ExecuteStream;
  readonly sessions: SessionRequests;
  readonly approvals: ApprovalRequests;
  follow(sessionId: string, options?: FollowOptions): AsyncIterable<readonly FollowedEvent[]>;
  /** Several sessions over one connection. */
  notifications(options?: NotificationsOptions): AsyncIterable<readonly NotificationEvent[]>;
  /** Sends a notification of the product to the users of the caller's scope, or to one. For trusted callers. @throws AgentError FORBIDDEN, INPUT_INVALID, PAYLOAD_TOO_LARGE */
  notify(notification: Notification, options?: RequestOptions): Promise<void>;
  readonly providers: ProviderRequests;
  readonly settings: SettingsRequests;
  /** The paths that the server answers, with `{name}` for what varies; those of the application included. */
  paths(options?: RequestOptions): Promise<readonly string[]>;
  /** At most 10 MiB. @throws AgentError PAYLOAD_TOO_LARGE */
  uploadFile(file: Blob, name?: string, options?: RequestOptions): Promise<UploadedFile>;
  /** The files of the team, in the order of their keys. `next` where more follow: the `after` of the next page. */
  files(
    options?: RequestOptions & { readonly limit?: number; readonly after?: string },
  ): Promise<{ readonly files: readonly ListedFile[]; readonly next?: string }>;
  /** Deletes a file of the team. @throws AgentError BLOB_UNKNOWN, FILE_IN_USE while sessions use it, FORBIDDEN */
  removeFile(blob: string, options?: RequestOptions): Promise<void>;
  /** The documents of the team's knowledge base, by id. @throws AgentError ROUTE_NOT_FOUND where the server has none */
  knowledge(
    options?: RequestOptions & { readonly limit?: number; readonly after?: string },
  ): Promise<{ readonly documents: readonly KnownDocument[]; readonly next?: string }>;
  /**
   * Learns a file for the whole team, in place of the document of this id: plain text, Markdown, HTML or CSV.
   * @throws AgentError FORBIDDEN, MEDIA_TYPE_UNSUPPORTED, PAYLOAD_TOO_LARGE, ROUTE_NOT_FOUND where the server has no knowledge base that can be changed
   */
  addKnowledge(file: Blob, document: { readonly id: string; readonly title?: string }, options?: RequestOptions): Promise<KnownDocument>;
  /** False: there was no such document. @throws AgentError FORBIDDEN, ROUTE_NOT_FOUND */
  removeKnowledge(id: string, options?: RequestOptions): Promise<boolean>;
  /** The bytes of a kept file. @throws AgentError BLOB_UNKNOWN */
  readFile(blob: string, options?: RequestOptions): Promise<{ readonly bytes: Uint8Array; readonly mediaType: string }>;
  /** Where a kept file can be read. */
  fileUrl(blob: string): string;
  /** @throws AgentError UNAUTHENTICATED */
  access(options?: RequestOptions): Promise<CallerAccess>;
  /** Exchanges the client's token for a cookie of the browser, so that no script has to keep it; with a cookie, for another one. @throws AgentError ROUTE_NOT_FOUND where the server has no cookies */
  login(options?: RequestOptions): Promise<CallerAccess>;
  /** Ends the session of the cookie. */
  logout(options?: RequestOptions): Promise<void>;
  /** A ticket for one stream at a path of the server, for readers that cannot send headers: `?ticket=`, once. */
  ticket(path: string, options?: RequestOptions): Promise<{ readonly ticket: string; readonly expiresAt: number }>;
  agents(options?: RequestOptions): Promise<{ readonly agents: readonly AgentCard[]; readonly default: string }>;
  /** Of the default agent, or of the one named. */
  tools(options?: RequestOptions & { readonly agent?: string }): Promise<readonly ToolCard[]>;
}

/** A client of the server at an address. Makes no request by itself. */
export function createClient(options: ClientOptions): LoopwrightClient {
  const client = clientContext(options);
  return {
    execute: (input, executeOptions = {}) => executeRemotely(client, input, executeOptions),
    sessions: createSessionRequests(client),
    approvals: createApprovalRequests(client),
    providers: createProviderRequests(client),
    settings: createSettingsRequests(client),
    async paths({ signal } = {}) {
      const { paths } = await requestJson<{ readonly paths: object }>(client, { path: "/openapi.json", signal });
      return Object.keys(paths);
    },
    follow: (sessionId, followOptions = {}) => followSession(client, sessionId, followOptions),
    notifications: (followOptions = {}) => followNotifications(client, followOptions),
    async notify(notification, { signal } = {}) {
      await sendRequest(client, { path: "/api/notifications", json: notification, signal });
    },
    uploadFile(file, name, { signal } = {}) {
      const headers = {
        "Content-Type": file.type || "application/octet-stream",
        "X-File-Name": name === undefined ? undefined : encodeURIComponent(name),
      };
      return requestJson(client, { path: "/api/files", bytes: file, headers, signal });
    },
    async removeFile(blob, { signal } = {}) {
      await sendRequest(client, { method: "DELETE", path: `/api/files/${encodeURIComponent(blob)}`, signal });
    },
    files: ({ signal, ...page } = {}) => requestJson(client, { path: `/api/files${queryOf({ ...page })}`, signal }),
    knowledge: ({ signal, ...page } = {}) => requestJson(client, { path: `/api/knowledge${queryOf({ ...page })}`, signal }),
    addKnowledge: (file, { id, title }, { signal } = {}) =>
      requestJson(client, {
        path: `/api/knowledge${queryOf({ id, title })}`,
        bytes: file,
        headers: { "Content-Type": file.type || "text/plain" },
        signal,
      }),
    async removeKnowledge(id, { signal } = {}) {
      const path = `/api/knowledge${queryOf({ id })}`;
      return (await requestJson<{ readonly removed: boolean }>(client, { method: "DELETE", path, signal })).removed;
    },
    async readFile(blob, { signal } = {}) {
      const response = await sendRequest(client, { path: `/api/files/${encodeURIComponent(blob)}`, signal });
      return { bytes: new Uint8Array(await response.arrayBuffer()), mediaType: response.headers.get("Content-Type") ?? "" };
    },
    fileUrl: (blob) => `${client.url}/api/files/${encodeURIComponent(blob)}`,
    access: ({ signal } = {}) => requestJson(client, { path: "/api/access", signal }),
    login: ({ signal } = {}) => requestJson(client, { method: "POST", path: "/api/login", signal }),
    logout: async ({ signal } = {}) => void (await sendRequest(client, { method: "POST", path: "/api/logout", signal })),
    ticket: (path, { signal } = {}) => requestJson(client, { path: "/api/tickets", json: { path }, signal }),
    agents: ({ signal } = {}) => requestJson(client, { path: "/api/agents", signal }),
    async tools({ agent, signal } = {}) {
      const path = `/api/tools${agent === undefined ? "" : `?agent=${encodeURIComponent(agent)}`}`;
      const { tools } = await requestJson<{ readonly tools: readonly ToolCard[] }>(client, { path, signal });
      return tools;
    },
  };
}
