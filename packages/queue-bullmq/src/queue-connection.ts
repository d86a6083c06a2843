import { systemClock } from "@loopwright/core/memory";
import type { Logger } from "@loopwright/core/ports";
import { createClient, type RedisClientOptions } from "@redis/client";
import { queueLimits } from "./queue-limits.ts";

/** One connection to Redis, as BullMQ takes it. */
export type QueueClient = ReturnType<typeof createClient>;

/** A connection that comes back by itself, also when it was cut without a word. */
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
  // BullMQ waits for hints on a copy, which it lets go of only where Redis answers.
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
          cancel = systemClock.after(deadlineMs, revive, { idle: true });
          await client.ping().catch(() => {});
          cancel();
        }
        if (!isClosed) beat();
      },
      { idle: true },
    );
  }

  function revive(): void {
    // One that is not ready is being made again already: a second attempt would leave the first one's connection behind.
    if (isClosed || !client.isReady) return;
    // What waits for an answer is rejected by this.
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
    // While there is no connection a command fails at once: nothing queues up, and nothing is sent after its caller has given up.
    disableOfflineQueue: true,
    socket: {
      connectTimeout: deadlineMs,
      // Also for a server that accepts a connection and never answers: the library would wait without an end.
      socketTimeout: queueLimits.idleSeconds * 1_000 + deadlineMs,
      ...clientOptions.socket,
      // BullMQ may ask for a connection that was closed here: none is made again.
      reconnectStrategy: (tries) =>
        !isClosed() && Math.min(50 * 2 ** Math.min(tries, 10), queueLimits.reconnectMaxMs) * (0.5 + Math.random() / 2),
    },
  });
  endLate(client, isClosed);
  return client;
}

/** The library connects all the same where it was destroyed while it connected: such a connection would keep the process alive. */
function endLate(client: QueueClient, isClosed: () => boolean): void {
  client.on("connect", () => {
    if (isClosed() || !client.isOpen) client.destroy();
  });
}
