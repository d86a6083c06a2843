/** The HTTP door of Loopwright. */
export { type AgentServer, createServer } from "./create-server.ts";
export type { ServerEnv } from "./http/server-env.ts";
export { bearerTokens } from "./identity/bearer-tokens.ts";
export { defaultServerLimits, type ServerLimits } from "./server-limits.ts";
export type { Authenticate, PageFile, Principal, ServerOptions } from "./server-options.ts";
export type { EventSink, OpenSink, SinkHead } from "./stream/event-sink.ts";
export type { RuntimeNode } from "./worker/create-node.ts";
export { createWorker, type Worker, type WorkerOptions } from "./worker/create-worker.ts";
export type { HandOverOptions } from "./worker/leaving.ts";
