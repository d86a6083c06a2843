import type { EventChannel, Logger, RunQueue } from "@loopwright/core/ports";
import type { Settings } from "../settings/settings.ts";
import { companion } from "./companion.ts";

/** What ties processes together that share a store. */
export interface Links {
  readonly channel?: EventChannel;
  readonly queue?: RunQueue;
  /** Lets go of connections, the queue's before the channel's. */
  close(): Promise<void>;
}

/** Channel and queue of the settings, where there are any; only their packages are loaded. @throws AgentError CONFIG_INVALID */
export async function openLinks({ channelUrl, queueUrl }: Pick<Settings, "channelUrl" | "queueUrl">, logger: Logger): Promise<Links> {
  const channel = channelUrl === undefined ? undefined : await openChannel(channelUrl, logger);
  const queue = queueUrl === undefined ? undefined : await openQueue(queueUrl, logger);
  return {
    ...(channel ? { channel } : {}),
    ...(queue ? { queue } : {}),
    async close() {
      await queue?.close();
      await channel?.close();
    },
  };
}

/** A channel over Redis. @throws AgentError CONFIG_INVALID */
export async function openChannel(url: string, logger: Logger): Promise<EventChannel & { close(): Promise<void> }> {
  const { redisChannel } = await companion("@loopwright/channel-redis", () => import("@loopwright/channel-redis"));
  return redisChannel({ url, logger });
}

/** A queue over Redis. @throws AgentError CONFIG_INVALID */
export async function openQueue(url: string, logger: Logger): Promise<RunQueue> {
  const { bullQueue } = await companion("@loopwright/queue-bullmq", () => import("@loopwright/queue-bullmq"));
  return bullQueue({ url, logger });
}
