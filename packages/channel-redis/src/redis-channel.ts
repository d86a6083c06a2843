import { AgentError } from "@loopwright/core";
import { memoryChannel, randomIds, silentLogger, startDeadline, systemClock } from "@loopwright/core/memory";
import type { ChannelListening, Clock, EventChannel, Logger, ScopeListener, SessionRef } from "@loopwright/core/ports";
import type { EphemeralEvent, SessionEvent } from "@loopwright/core/protocol";
import type { RedisClientOptions } from "@redis/client";
import { readRing } from "./lane-rings.ts";
import { createReceiver, type Receiver } from "./receiver.ts";
import { createRedisLink, type RedisLink } from "./redis-link.ts";
import { createScopeListeners, type ScopeListeners } from "./scope-listeners.ts";
import { createSender, type Sender } from "./sender.ts";
import { ringKey } from "./topic-name.ts";

/** Exactly one of `url` and `clientOptions`. */
export interface RedisChannelOptions {
  /** `redis://` or `rediss://` with user, password and host; all nodes name the same Redis. */
  readonly url?: string;
  /** For what a URL cannot express: certificates, a socket path. The channel reconnects by itself. */
  readonly clientOptions?: RedisClientOptions;
  /** Before every topic and key. Default `loopwright`; the same on all nodes. */
  readonly prefix?: string;
  /** How much may wait while Redis is slow or away; over it deltas are dropped first. Default 4 MiB. */
  readonly outgoingBytes?: number;
  /** After which a Redis that does not answer counts as gone. Default 2,000 ms. */
  readonly deadlineMs?: number;
  /** Logs when Redis is lost and back, and listeners that throw. Default: silent. */
  readonly logger?: Logger;
  readonly clock?: Clock;
}

/** A channel that holds connections. */
export interface RedisChannel extends EventChannel {
  recall(ref: SessionRef, lane: number): Promise<readonly EphemeralEvent[]>;
  /** Sends what waits, for at most `deadlineMs`, and closes its connections; listeners in this process still receive events of this process. Idempotent. */
  close(): Promise<void>;
}

/**
 * A channel between all nodes that name the same Redis and prefix. Nothing is connected before the first use. Events of this node reach its own
 * listeners directly, whether Redis is reachable or not.
 * @throws AgentError CONFIG_INVALID
 */
export function redisChannel(options: RedisChannelOptions): RedisChannel {
  const {
    prefix = "loopwright",
    deadlineMs = 2_000,
    outgoingBytes = 4 * 1024 * 1024,
    clock = systemClock,
    logger = silentLogger,
  } = options;
  const clientOptions = clientOptionsOf(options);
  const node = randomIds.next();
  const local = memoryChannel({ logger });
  const scopes = new Map<string, ScopeListeners>();
  const linked = { clientOptions, deadlineMs, clock, logger };
  const writer = createRedisLink({ ...linked, name: "writer", up: () => sender.resume(), down: () => {} });
  const sender: Sender = createSender({ node, prefix, link: writer, outgoingBytes, deadlineMs, clock, logger });
  const listener = createRedisLink({
    ...linked,
    name: "listener",
    prepare: (connection) => receiver.prepare(connection),
    up: () => receiver.up(),
    down: () => receiver.down(),
  });
  const receiver: Receiver = createReceiver({ node, prefix, link: listener, deadlineMs, clock, logger });
  let closing: Promise<void> | undefined;

  function listen(scope: string, add: (listeners: ScopeListeners) => () => void, stopLocal: () => void): () => void {
    const listeners = scopes.get(scope) ?? createScopeListeners({ scope, local, logger });
    scopes.set(scope, listeners);
    const remove = add(listeners);
    if (!closing) receiver.receive(scope, listeners.reader);
    let hasLeft = false;
    return () => {
      if (hasLeft) return;
      hasLeft = true;
      stopLocal();
      remove();
      if (listeners.isEmpty) receiver.leave(scope, () => scopes.delete(scope));
    };
  }

  return {
    publish(ref, events) {
      local.publish(ref, events);
      if (!closing) sender.publish(ref, events);
    },
    notify(scope, notification) {
      local.notify(scope, notification);
      if (!closing) sender.notify(scope, notification);
    },
    subscribe: (ref: SessionRef, receive: (events: readonly SessionEvent[]) => void, listening?: ChannelListening) =>
      listen(
        ref.scope,
        (listeners) => listeners.addSession(ref.session, listening?.gap && (() => listening.gap?.())),
        local.subscribe(ref, receive),
      ),
    subscribeScope: (scope: string, scopeListener: ScopeListener) =>
      listen(scope, (listeners) => listeners.addScope(scopeListener), local.subscribeScope(scope, scopeListener)),
    recall(ref, lane) {
      if (closing) return Promise.resolve([]);
      return within({ ms: deadlineMs, clock, instead: [] }, readLane({ prefix, writer, sender }, { ...ref, lane }));
    },
    close() {
      closing ??= within({ ms: deadlineMs, clock, instead: undefined }, sender.sent()).then(() => {
        receiver.close();
        listener.close();
        writer.close();
      });
      return closing;
    },
  };
}

async function readLane(
  { prefix, writer, sender }: { readonly prefix: string; readonly writer: RedisLink; readonly sender: Sender },
  lane: SessionRef & { readonly lane: number },
): Promise<readonly EphemeralEvent[]> {
  const key = ringKey(prefix, lane);
  const connection = await writer.opened();
  // It holds events of this node too.
  await sender.sent();
  return readRing(await connection.mGet([key(0), key(1)]));
}

function clientOptionsOf({ url, clientOptions }: RedisChannelOptions): RedisClientOptions {
  if ((url === undefined) === (clientOptions === undefined))
    throw new AgentError("CONFIG_INVALID", {
      message: "A Redis channel takes exactly one of `url` and `clientOptions`.",
      fix: 'Pass a url, for example "redis://127.0.0.1:6379".',
    });
  if (clientOptions) return clientOptions;
  // The client library would put the whole URL into its error, with the password.
  if (!url || !/^rediss?:$/.test(URL.parse(url)?.protocol ?? ""))
    throw new AgentError("CONFIG_INVALID", {
      message: "The `url` of the Redis channel is not a URL.",
      fix: "Use redis://host:port or rediss://host:port.",
    });
  return { url };
}

/** What the promise gives, or `instead` when it takes too long or is rejected. */
function within<Value>(
  { ms, clock, instead }: { readonly ms: number; readonly clock: Clock; readonly instead: Value },
  promise: Promise<Value>,
): Promise<Value> {
  return new Promise((resolve) => {
    const cancel = startDeadline(clock, { ms }, () => resolve(instead));
    const end = (value: Value): void => {
      cancel();
      resolve(value);
    };
    promise.then(end, () => end(instead));
  });
}
