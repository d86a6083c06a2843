import { AgentError } from "../../errors.ts";
import { randomIds } from "../../memory/random-ids.ts";
import { silentLogger } from "../../memory/silent-logger.ts";
import { privateStore } from "../../memory/store/private-store.ts";
import { systemClock } from "../../memory/system-clock.ts";
import { isId, type SessionRef } from "../../message/session-ref.ts";
import type { EventChannel } from "../../ports/event-channel.ts";
import type { Logger } from "../../ports/logger.ts";
import { guardOf } from "../model/retry/call-guard.ts";
import { bindAgent } from "../setup/bound-agent.ts";
import { snapshotLimits } from "../setup/fold-snapshot-limits.ts";
import { observationOf } from "../setup/observer-calls.ts";
import type { Deps } from "../setup/session-deps.ts";
import type { SessionOptions } from "../setup/session-options.ts";
import { type Reports, reportThrown } from "../setup/user-code-errors.ts";
import { snapshotOf } from "./public-snapshot.ts";

const defaultLeaseMs = 20_000;

/** @throws AgentError CONFIG_INVALID when an id or the lease is out of range, or a tool or the prompt cannot be used. */
export function depsOf(options: SessionOptions): Omit<Deps, "openChild"> {
  const { clock = systemClock, ids = randomIds, access = { user: "local", scope: "local" }, leaseMs = defaultLeaseMs } = options;
  const sessionId = options.id ?? ids.next();
  if (!isId(sessionId)) throw invalid("id", "session id");
  if (!isId(access.scope)) throw invalid("access.scope", "scope id");
  if (!(leaseMs > 0))
    throw new AgentError("CONFIG_INVALID", { message: "`leaseMs` is not positive.", fix: "Use milliseconds, for example 20000." });
  const ref = { scope: access.scope, session: sessionId };
  const logger = guardedLogger(options.logger ?? silentLogger, ref);
  const observation = observationOf(options.observers ?? [], {
    ref,
    logger,
    sessionId,
    snapshotOf: (state) => snapshotOf(state, sessionId),
  });
  return {
    bound: bindAgent(options, sessionId),
    sessionId,
    ref,
    store: options.store ?? privateStore(),
    isPrivate: options.store === undefined && options.channel === undefined,
    access,
    clock,
    ids,
    logger,
    observation,
    ledger: options.ledger,
    tokenCounter: options.tokenCounter,
    scheduleRules: options.scheduleRules,
    resolveModel: options.resolveModel,
    channel: options.channel && guardedChannel(options.channel, { logger, sessionId, observation }),
    callGuard: options.callGuard ?? guardOf(clock),
    node: options.node ?? randomIds.next(),
    leaseMs,
    workers: options.workers,
    drives: options.drives ?? true,
    snapshotCheckShare: options.store && (options.snapshotCheckShare ?? snapshotLimits.checkShare),
  };
}

const invalid = (option: string, what: string): AgentError =>
  new AgentError("CONFIG_INVALID", {
    message: `\`${option}\` is no usable ${what}.`,
    fix: "Use 1 to 64 of a-z, 0-9, _ and -, beginning with a letter or digit.",
  });

/** Errors of the logger do not stop the session. Each line names the session and its scope, also the lines of hooks and tools. */
const guardedLogger = (logger: Logger, ref: SessionRef): Logger => ({
  log(level, message, fields) {
    try {
      logger.log(level, message, { ...ref, ...fields });
    } catch {
      // There is no other place to report it.
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
