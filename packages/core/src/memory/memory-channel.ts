import type { SessionEvent } from "../loop/event.ts";
import type { EventChannel } from "../ports/event-channel.ts";
import type { Logger } from "../ports/logger.ts";
import type { SessionRef } from "../ports/session-log.ts";
import { silentLogger } from "./silent-logger.ts";

interface Subscription {
  readonly listener: (events: readonly SessionEvent[]) => void;
  /** Published and not yet delivered; absent while nothing is. */
  waiting: SessionEvent[] | undefined;
  active: boolean;
}

export interface MemoryChannelOptions {
  /** Is told of listeners that throw. Default: silent. */
  readonly logger?: Logger;
}

/** A channel within this process. Listeners are called after `publish` has returned, with all that was published meanwhile. */
export function memoryChannel(options?: MemoryChannelOptions): EventChannel {
  const logger = options?.logger ?? silentLogger;
  const topics = new Map<string, Set<Subscription>>();
  const topicOf = ({ scope, session }: SessionRef): string => `${scope}/${session}`;

  function deliver(subscription: Subscription): void {
    const events = subscription.waiting ?? [];
    subscription.waiting = undefined;
    if (!subscription.active) return;
    try {
      subscription.listener(events);
    } catch (error) {
      logger.log("error", "A listener of the event channel threw.", { name: error instanceof Error ? error.name : typeof error });
    }
  }

  function enqueue(subscription: Subscription, events: readonly SessionEvent[]): void {
    if (subscription.waiting) {
      subscription.waiting.push(...events);
      return;
    }
    subscription.waiting = [...events];
    void Promise.resolve().then(() => deliver(subscription));
  }

  return {
    publish(ref, events) {
      if (topics.size === 0 || events.length === 0) return;
      for (const subscription of topics.get(topicOf(ref)) ?? []) enqueue(subscription, events);
    },
    subscribe(ref, listener) {
      const topic = topicOf(ref);
      const subscription: Subscription = { listener, waiting: undefined, active: true };
      const subscriptions = topics.get(topic) ?? new Set();
      topics.set(topic, subscriptions.add(subscription));
      return () => {
        subscription.active = false;
        subscriptions.delete(subscription);
        if (subscriptions.size === 0 && topics.get(topic) === subscriptions) topics.delete(topic);
      };
    },
  };
}
