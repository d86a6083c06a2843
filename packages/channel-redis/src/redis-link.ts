import { startDeadline } from "@loopwright/core/memory";
import type { Clock, Logger } from "@loopwright/core/ports";
import { type createClient, RedisClient, type RedisClientOptions } from "@redis/client";
import { channelLimits } from "./channel-limits.ts";

/** One connection to Redis. */
export type Connection = ReturnType<typeof createClient>;

export interface LinkOptions {
  /** For the log: `writer` or `listener`. */
  readonly name: string;
  readonly clientOptions: RedisClientOptions;
  readonly deadlineMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Makes a new connection usable; until it resolves the link is not up. */
  prepare?(connection: Connection): Promise<void>;
  /** Must not throw. */
  up(): void;
  /** It was up, or was opened, and is not: a new connection is on its way. Must not throw. */
  down(): void;
}

/** One connection after the other: of the client library we ask for no retries, so that we know what was sent and when it broke. */
export interface RedisLink {
  /** Absent while the link is not up. */
  readonly connection: Connection | undefined;
  /** Connects, and connects again whenever it must, until it is closed. */
  open(): void;
  /** The connection, once the link is up. Rejects when the next try to connect has failed. */
  opened(): Promise<Connection>;
  /** Gives the connection up for a new one. */
  renew(cause: unknown): void;
  /** The connection does what it is for: the next loss is not one more in a row. */
  proved(): void;
  close(): void;
}

export function createRedisLink(options: LinkOptions): RedisLink {
  const { clock } = options;
  const outage = createOutage(options);
  let state: "new" | "open" | "closed" = "new";
  let current: Connection | undefined;
  let isUp = false;
  let tries = 0;
  let cancelRetry: (() => void) | undefined;
  /** Shared by all callers that wait. Ended by every failure: Redis may be away for long, and no caller waits longer than a moment. */
  let nextUp: PromiseWithResolvers<Connection> | undefined;

  function lost(connection: Connection, cause: unknown): void {
    if (connection !== current) return;
    current = undefined;
    isUp = false;
    connection.destroy();
    nextUp?.reject(cause);
    nextUp = undefined;
    if (state === "closed") return;
    outage.begin(cause);
    cancelRetry = clock.after(pauseMs(tries++), () => void connect(), { idle: true });
    options.down();
  }

  async function connect(): Promise<void> {
    const connection = newConnection(options.clientOptions, options.deadlineMs);
    current = connection;
    connection.on("error", (error) => lost(connection, error));
    connection.on("end", () => lost(connection, "closed"));
    const cancel = startDeadline(clock, { ms: options.deadlineMs, idle: true }, () => lost(connection, "timeout"));
    try {
      await connection.connect();
      await options.prepare?.(connection);
    } catch (error) {
      lost(connection, error);
    } finally {
      cancel();
    }
    if (connection !== current) return;
    isUp = true;
    nextUp?.resolve(connection);
    nextUp = undefined;
    options.up();
  }

  function proved(): void {
    tries = 0;
    outage.end();
  }

  function open(): void {
    if (state !== "new") return;
    state = "open";
    void connect();
  }

  return {
    get connection() {
      return isUp ? current : undefined;
    },
    open,
    opened() {
      open();
      if (isUp && current) return Promise.resolve(current);
      nextUp ??= Promise.withResolvers();
      return nextUp.promise;
    },
    renew: (cause) => current && lost(current, cause),
    proved,
    close() {
      state = "closed";
      cancelRetry?.();
      if (current) lost(current, "closed");
    },
  };
}

/** Half of it is chance, so that many nodes do not come back at once. */
function pauseMs(tries: number): number {
  return Math.min(channelLimits.retryMs * 2 ** tries, channelLimits.retryMaxMs) * (0.5 + Math.random() / 2);
}

/** Logs once that Redis is away, and once that it is back. */
function createOutage({ logger, name }: LinkOptions): { begin(cause: unknown): void; end(): void } {
  let isAway = false;
  return {
    begin(cause) {
      if (!isAway) logger.log("warn", "The event channel lost Redis and connects again.", { connection: name, error: nameOf(cause) });
      isAway = true;
    },
    end() {
      if (isAway) logger.log("info", "The event channel reached Redis again.", { connection: name });
      isAway = false;
    },
  };
}

/**
 * What `createClient` makes again for each client whose options differ from the last, at some 30 ms of CPU: a class with all commands of Redis.
 */
let makeClient: ((options: RedisClientOptions) => Connection) | undefined;

function newConnection(options: RedisClientOptions, deadlineMs: number): Connection {
  makeClient ??= RedisClient.factory({ RESP: 3 });
  const connection = makeClient({
    ...options,
    RESP: 3,
    disableOfflineQueue: true,
    maintNotifications: "disabled",
    socket: { connectTimeout: deadlineMs + channelLimits.connectGraceMs, ...options.socket, reconnectStrategy: false },
  });
  // The library connects all the same where it was destroyed while it connected: such a connection would keep the process alive for ever.
  connection.on("connect", () => {
    if (!connection.isOpen) connection.destroy();
  });
  return connection;
}

/** What kind of error it is, without its text: that may name what only Redis should know. */
function nameOf(cause: unknown): string {
  if (typeof cause === "string") return cause;
  if (!(cause instanceof Error)) return typeof cause;
  if ("code" in cause && typeof cause.code === "string") return cause.code;
  // Redis begins its errors with a word: WRONGPASS, NOAUTH, READONLY, ...
  return /^[A-Z]{3,}\b/.exec(cause.message)?.[0] ?? cause.name;
}
