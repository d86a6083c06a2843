import { startDeadline, systemClock } from "@loopwright/core/memory";
import type { Logger } from "@loopwright/core/ports";
import { createClient, type RedisClientOptions } from "@redis/client";
import { queueLimits } from "./queue-limits.ts";

/** One connection to Redis, in the form that BullMQ takes. */
export type QueueClient = ReturnType<typeof createClient>;

/** A connection that is opened again by itself, also when it was cut without a notice. */
export interface QueueConnection {
  readonly client: QueueClient;
  close(): void;
}

/** Connects at once. */
export function connectQueue(options: {
  readonly clientOptions: RedisClientOptions;
  readonly deadlineMs: number;
  readonly logger: Logger;
}): QueueConnection {
  const { clientOptions, deadlineMs, logger } = options;
  let isAway = false;
  let isClosed = false;
  let cancel = (): void => {};
  const client = newClient({ clientOptions, deadlineMs, isClosed: () => isClosed });
  // BullMQ waits for hints on a copy of the connection, and releases the copy only if Redis answers.
  const copies: QueueClient[] = [];
  const duplicate = client.duplicate.bind(client);
  Object.assign(client, {
    duplicate() {
      const copy = duplicate();
      copies.push(copy);
      endLate(copy, () => isClosed);
      return copy;
    },
  });
  client.on("error", () => {
    if (!isAway && !isClosed) logger.log("warn", "The run queue lost Redis and connects again.");
    isAway = true;
  });
  client.on("ready", () => {
    if (isAway) logger.log("info", "The run queue reached Redis again.");
    isAway = false;
  });

  /** The library notices a connection that was closed, not one that is silent. */
  function beat(): void {
    cancel = systemClock.after(
      queueLimits.heartbeatMs,
      async () => {
        if (client.isReady) {
          cancel = startDeadline(systemClock, { ms: deadlineMs, idle: true }, revive);
          await client.ping().catch(() => {});
          cancel();
        }
        if (!isClosed) beat();
      },
      { idle: true },
    );
  }

  function revive(): void {
    // A connection that is not ready is being opened already; a second attempt would leak the first one's connection.
    if (isClosed || !client.isReady) return;
    // Rejects the commands that wait for an answer.
    client.destroy();
    client.connect().catch(() => {});
  }

  client.connect().catch(() => {});
  beat();
  return {
    client,
    close() {
      isClosed = true;
      cancel();
      for (const one of [client, ...copies]) one.destroy();
    },
  };
}

function newClient(options: {
  readonly clientOptions: RedisClientOptions;
  readonly deadlineMs: number;
  readonly isClosed: () => boolean;
}): QueueClient {
  const { clientOptions, deadlineMs, isClosed } = options;
  const client = createClient({
    ...clientOptions,
    maintNotifications: "disabled",
    // Without a connection a command fails at once, so that no command queues up or is sent after its caller has given up.
    disableOfflineQueue: true,
    socket: {
      connectTimeout: deadlineMs + queueLimits.connectGraceMs,
      // Needed for a server that accepts a connection and never answers, for which the library would wait without a limit.
      socketTimeout: queueLimits.idleSeconds * 1_000 + deadlineMs,
      ...clientOptions.socket,
      // BullMQ may request a connection after `close`: none is opened.
      reconnectStrategy: (tries) =>
        !isClosed() && Math.min(50 * 2 ** Math.min(tries, 10), queueLimits.reconnectMaxMs) * (0.5 + Math.random() / 2),
    },
  });
  endLate(client, isClosed);
  return client;
}

/** Closes a client during its connect too: the library would complete the connection, which would keep the process alive. */
function endLate(client: QueueClient, isClosed: () => boolean): void {
  client.on("connect", () => {
    if (isClosed() || !client.isOpen) client.destroy();
  });
}
