/** Loopwright over HTTP. */

export type { Action } from "./actions-to-authorize.ts";
export type { AgentServer } from "./agent-server.ts";
export { createHealthServer, type HealthServerOptions } from "./create-health-server.ts";
export { createServer } from "./create-server.ts";
export { bearerTokens } from "./identity/fixed-bearer-tokens.ts";
export { findOwnedSession, type OwnedName, ownedSessionId } from "./identity/owned-session-id.ts";
export { bearerToken } from "./identity/read-bearer-token.ts";
export { type AccessPolicyOptions, accessPolicy, type PolicyIndex } from "./permissions/access-policy.ts";
export { digestId } from "./request/digest-id.ts";
export type { ServerEnv } from "./request/server-env.ts";
export { type AttachedContent, attachFiles } from "./routes/files/attach-files.ts";
export { type KeptFileRemoval, removeKeptFile } from "./routes/files/remove-stored-file.ts";
export { keepFile, type NewFile } from "./routes/files/store-file.ts";
export { type KeptFilesQuery, keptFiles } from "./routes/files/stored-files-page.ts";
export { sessionFile } from "./routes/sessions/export-session.ts";
export { transcriptMarkdown } from "./routes/sessions/transcript-markdown.ts";
export { withDerivedTitle } from "./routes/sessions/with-derived-title.ts";
export { defaultServerLimits, type HttpLimits, type ServerLimits } from "./server-limits.ts";
export type {
  AuditContext,
  Authenticate,
  Authorize,
  Caller,
  CookieOptions,
  ExtensionContext,
  ExtensionRoute,
  HostedServerOptions,
  HttpOptions,
  KnownFile,
  LabelRule,
  MaySee,
  MaySeeFile,
  Membership,
  PageFile,
  Principal,
  ServerOptions,
} from "./server-options.ts";
export type { EventSink, OpenSink, SinkHead } from "./stream/event-sink.ts";
export { type EventStreamOptions, eventStreamResponse } from "./stream/event-stream-response.ts";
export type { DialectContext, DialectFrame, DialectReader, StreamDialect } from "./stream-dialect.ts";
