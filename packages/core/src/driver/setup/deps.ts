import { AgentError } from "../../errors.ts";
import type { Access } from "../../loop/fact.ts";
import { systemClock } from "../../memory/clock.ts";
import { randomIds } from "../../memory/ids.ts";
import { memoryStore } from "../../memory/memory-store.ts";
import { silentLogger } from "../../memory/silent-logger.ts";
import type { Clock } from "../../ports/clock.ts";
import type { EventChannel } from "../../ports/event-channel.ts";
import type { IdSource } from "../../ports/id-source.ts";
import type { Logger } from "../../ports/logger.ts";
import type { SessionRef } from "../../ports/session-log.ts";
import type { SessionStore } from "../../ports/session-store.ts";
import { type CallGuard, guardOf } from "../model/retry/call-guard.ts";
import { type BoundAgent, bindAgent } from "./bound-agent.ts";
import type { SessionOptions } from "./session-options.ts";
import { snapshotLimits } from "./snapshot-limits.ts";
import { type Reports, reportThrown } from "./user-code.ts";

/** Everything the driver of one session works with, defaults filled in. */
export interface Deps {
  readonly bound: BoundAgent;
  readonly sessionId: string;
  readonly ref: SessionRef;
  readonly store: SessionStore;
  readonly access: Access;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  readonly channel: EventChannel | undefined;
  readonly callGuard: CallGuard;
  readonly node: string;
  readonly leaseMs: number;
  /** May own the session. */
  readonly drives: boolean;
  /** `undefined`: nobody else will ever read this store, so no snapshots of the fold are kept. */
  readonly snapshotCheckShare: number | undefined;
}

const idPattern = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const defaultLeaseMs = 20_000;

/** @throws AgentError CONFIG_INVALID when an id or the lease is out of range, or a tool or the prompt cannot be used. */
export function depsOf(options: SessionOptions): Deps {
  const { clock = systemClock, ids = randomIds, access = { user: "local", scope: "local" }, leaseMs = defaultLeaseMs } = options;
  const sessionId = options.id ?? ids.next();
  if (!idPattern.test(sessionId)) throw invalid("id", "session id");
  if (!idPattern.test(access.scope)) throw invalid("access.scope", "scope id");
  if (!(leaseMs > 0))
    throw new AgentError("CONFIG_INVALID", { message: "`leaseMs` is not positive.", fix: "Use milliseconds, for example 20000." });
  const logger = guardedLogger(options.logger ?? silentLogger);
  return {
    bound: bindAgent(options, sessionId),
    sessionId,
    ref: { scope: access.scope, session: sessionId },
    store: options.store ?? memoryStore({ clock }),
    access,
    clock,
    ids,
    logger,
    channel: options.channel && guardedChannel(options.channel, { logger, sessionId }),
    callGuard: options.callGuard ?? guardOf(clock),
    node: options.node ?? randomIds.next(),
    leaseMs,
    drives: options.drives ?? true,
    snapshotCheckShare: options.store && (options.snapshotCheckShare ?? snapshotLimits.checkShare),
  };
}

const invalid = (option: string, what: string): AgentError =>
  new AgentError("CONFIG_INVALID", {
    message: `\`${option}\` is no usable ${what}.`,
    fix: "Use 1 to 64 of a-z, 0-9, _ and -, beginning with a letter or digit.",
  });

/** What operators and other nodes are told may fail; the session goes on. */
const guardedLogger = (logger: Logger): Logger => ({
  log(level, message, fields) {
    try {
      logger.log(level, message, fields);
    } catch {
      // There is nobody left to tell.
    }
  },
});

const guardedChannel = (channel: EventChannel, reports: Reports): EventChannel => {
  const guarded = <T>(use: () => T, otherwise: T): T => {
    try {
      return use();
    } catch (error) {
      reportThrown(reports, "The event channel threw an error.", error);
      return otherwise;
    }
  };
  return {
    publish: (ref, events) => guarded(() => channel.publish(ref, events), undefined),
    subscribe: (ref, listener, listening) =>
      guarded(
        () => channel.subscribe(ref, listener, listening),
        () => {},
      ),
    ...(channel.recall ? { recall: async (ref, lane) => (await channel.recall?.(ref, lane)) ?? [] } : {}),
    notify: (scope, notification) => channel.notify(scope, notification),
    subscribeScope: (scope, listener) => channel.subscribeScope(scope, listener),
  };
};
