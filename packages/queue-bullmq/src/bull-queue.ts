import { AgentError } from "@loopwright/core";
import { silentLogger, startDeadline, systemClock } from "@loopwright/core/memory";
import { type Logger, type RunQueue, type RunQueueWorker, refKey, type SessionRef } from "@loopwright/core/ports";
import type { RedisClientOptions } from "@redis/client";
import { Queue } from "bullmq";
import { fairTurn } from "./fair-turn.ts";
import { createHintWorker } from "./hint-worker.ts";
import { connectQueue, type QueueConnection } from "./queue-connection.ts";
import { queueLimits } from "./queue-limits.ts";

/** Exactly one of `url` and `clientOptions`. */
export interface BullQueueOptions {
  /** `redis://` or `rediss://` with user, password and host; all nodes name the same Redis. */
  readonly url?: string;
  /** For what a URL cannot express: certificates, a socket path. The queue reconnects by itself. */
  readonly clientOptions?: RedisClientOptions;
  /** Before every key. Default `loopwright`; the same on all nodes. */
  readonly prefix?: string;
  /** After which a Redis that does not answer is QUEUE_UNAVAILABLE. Default 1,500 ms. */
  readonly deadlineMs?: number;
  /** A worker that sent no sign for this long counts as dead, and its hints are given to others. Default 15,000 ms. */
  readonly lockMs?: number;
  /** Logs when Redis is lost and back. Default: silent. */
  readonly logger?: Logger;
}

/** What a job holds: no message, no secret. */
type Hint = SessionRef;

/** The name that BullMQ knows the queue by. */
const queueName = "runs";

/**
 * A run queue over all nodes that name the same Redis and prefix. Nothing is connected before the first use. Hints for a session that waits are
 * one; a hint that comes while it is under way leads to another take, here after the one that runs, on another node at once. In a backlog the
 * scopes take turns: each hint carries its turn as the priority of its job.
 * @throws AgentError CONFIG_INVALID
 */
export function bullQueue(options: BullQueueOptions): RunQueue {
  const { prefix = "loopwright", deadlineMs = 1_500, lockMs = 15_000, logger = silentLogger } = options;
  const clientOptions = clientOptionsOf(options);
  let opened: { readonly connection: QueueConnection; readonly queue: Queue<Hint> } | undefined;
  const workers = new Set<RunQueueWorker>();
  let closing: Promise<void> | undefined;

  function open(): { readonly connection: QueueConnection; readonly queue: Queue<Hint> } {
    if (opened) return opened;
    const connection = connectQueue({ clientOptions, deadlineMs, logger });
    const queue = new Queue<Hint>(queueName, {
      ...bullOptions(connection, prefix),
      streams: { events: { maxLen: queueLimits.eventsKept } },
      defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
    });
    queue.on("error", () => {});
    opened = { connection, queue };
    return opened;
  }

  async function offer({ scope, session }: SessionRef): Promise<void> {
    const { queue, connection } = open();
    const add = async (): Promise<void> => {
      await queue.waitUntilReady();
      const hint = { scope, session };
      const id = refKey(hint);
      const [last, top, waiting, merged] = [
        queue.toKey("turns"),
        queue.toKey("turns:top"),
        queue.toKey("prioritized"),
        queue.toKey(`de:${id}`),
      ];
      const priority = await fairTurn(connection.client, { last, top, waiting, merged }, hint);
      await queue.add("run", hint, { priority, deduplication: { id, ttl: queueLimits.mergeMs } });
    };
    await answered(add(), deadlineMs);
  }

  return {
    offer: (ref) => (closing ? Promise.reject(closedError()) : offer(ref)),
    work(take, { concurrency }) {
      if (closing) return { stop: () => Promise.resolve() };
      // BullMQ cuts the connection of a worker that is stopped: each has one of its own, and one more on which it waits.
      const connection = connectQueue({ clientOptions, deadlineMs, logger });
      const bull = { ...bullOptions(connection, prefix), concurrency, lockDuration: lockMs, stalledInterval: lockMs };
      const worker = createHintWorker({ name: queueName, take, offer, deadlineMs, connection, bull });
      workers.add(worker);
      return worker;
    },
    close() {
      closing ??= (async () => {
        await Promise.all([...workers].map((worker) => worker.stop()));
        if (!opened) return;
        await answered(opened.queue.close(), deadlineMs).catch(() => {});
        opened.connection.close();
      })();
      return closing;
    },
  };
}

/** What the queue and its workers share. Asking for the version would write advice about Redis to the console. */
const bullOptions = ({ client }: QueueConnection, prefix: string) =>
  ({ connection: client, prefix: `${prefix}:queue`, skipVersionCheck: true }) as const;

/** Resolves when Redis has answered. @throws AgentError QUEUE_UNAVAILABLE when it has not in time, or has refused. */
function answered(answer: Promise<unknown>, deadlineMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (message: string): void => reject(new AgentError("QUEUE_UNAVAILABLE", { message }));
    const cancel = startDeadline(systemClock, { ms: deadlineMs }, () =>
      fail(`Redis did not answer the run queue within ${deadlineMs} ms.`),
    );
    answer.then(
      () => {
        cancel();
        resolve();
      },
      () => {
        cancel();
        fail("Redis refused a command of the run queue, or the connection broke meanwhile.");
      },
    );
  });
}

const closedError = (): AgentError =>
  new AgentError("QUEUE_UNAVAILABLE", { message: "The run queue is closed.", fix: "Open a new one.", retryable: false });

function clientOptionsOf({ url, clientOptions }: BullQueueOptions): RedisClientOptions {
  if ((url === undefined) === (clientOptions === undefined))
    throw new AgentError("CONFIG_INVALID", {
      message: "A run queue takes exactly one of `url` and `clientOptions`.",
      fix: 'Pass a url, for example "redis://127.0.0.1:6379".',
    });
  if (clientOptions) return clientOptions;
  // The client library would put the whole URL into its error, with the password.
  if (!url || !/^rediss?:$/.test(URL.parse(url)?.protocol ?? ""))
    throw new AgentError("CONFIG_INVALID", {
      message: "The `url` of the run queue is not a URL.",
      fix: "Use redis://host:port or rediss://host:port.",
    });
  return { url };
}
