import { AgentError } from "../../errors.ts";
import { systemClock } from "../../memory/clock.ts";
import { randomIds } from "../../memory/ids.ts";
import { silentLogger } from "../../memory/silent-logger.ts";
import { privateStore } from "../../memory/store/memory-store.ts";
import type { EventChannel } from "../../ports/event-channel.ts";
import type { Logger } from "../../ports/logger.ts";
import { guardOf } from "../model/retry/call-guard.ts";
import { bindAgent } from "../setup/bound-agent.ts";
import type { Deps } from "../setup/deps.ts";
import type { SessionOptions } from "../setup/session-options.ts";
import { snapshotLimits } from "../setup/snapshot-limits.ts";
import { type Reports, reportThrown } from "../setup/user-code.ts";

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
    store: options.store ?? privateStore(clock),
    isPrivate: options.store === undefined && options.channel === undefined,
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
