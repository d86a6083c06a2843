/** Hosts sessions of agents: loads, lends, evicts, claims, sweeps, hints and hands over. */
export type { Backend, Runtime, RuntimeSessionOptions } from "@loopwright/core";
export { createHost, type Host, type StoreHealth } from "./create-host.ts";
export { createWorker, type Worker, type WorkerOptions } from "./create-worker.ts";
export { checkLimits, defaultHostLimits, type HostLimits } from "./options/host-limits.ts";
export type { HostOptions } from "./options/host-options.ts";
export type { RetentionRule, RetentionRules } from "./options/retention-rules.ts";
export { createRuntime, type RuntimeOptions } from "./runtime/create-runtime.ts";
export { type ErasedScope, eraseScope, type ScopeEraser } from "./sessions/erase-scope.ts";
export { type ForkOptions, type ForkSource, forkOf, messageAt } from "./sessions/fork-session.ts";
export type { CloseOptions, HostedSession, LoadedSession, NewSession, SessionHost } from "./sessions/session-host.ts";
export type { HandOverOptions } from "./work/graceful-shutdown.ts";
