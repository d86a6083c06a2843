import type { SessionEvent } from "../loop/event.ts";
import type { EventChannel, Notification, ScopeListener } from "../ports/event-channel.ts";
import type { Logger } from "../ports/logger.ts";
import type { SessionRef } from "../ports/session-log.ts";
import { silentLogger } from "./silent-logger.ts";

/** What was published to one session, or notified. */
type Item<Events = readonly SessionEvent[]> =
  | { readonly session: string; readonly events: Events }
  | { readonly notification: Notification };

/** The same, as one subscription gathers it. */
type WaitingItem = Item<SessionEvent[]>;

interface Subscription {
  readonly take: (item: Item) => void;
  /** Published and not yet delivered; absent while nothing is. */
  waiting: WaitingItem[] | undefined;
  active: boolean;
}

export interface MemoryChannelOptions {
  /** Is told of listeners that throw. Default: silent. */
  readonly logger?: Logger;
}

/** A channel within this process. Listeners are called after `publish` has returned, with all that was published meanwhile. */
export function memoryChannel(options?: MemoryChannelOptions): EventChannel {
  const logger = options?.logger ?? silentLogger;
  /** By session, and by scope. */
  const topics = new Map<string, Set<Subscription>>();

  function deliver(subscription: Subscription): void {
    const items = subscription.waiting ?? [];
    subscription.waiting = undefined;
    for (const item of items) {
      if (!subscription.active) return;
      try {
        subscription.take(item);
      } catch (error) {
        logger.log("error", "A listener of the event channel threw.", { name: error instanceof Error ? error.name : typeof error });
      }
    }
  }

  function enqueue(topic: string, item: Item): void {
    for (const subscription of topics.get(topic) ?? []) {
      if (subscription.waiting) join(subscription.waiting, item);
      else {
        subscription.waiting = [];
        join(subscription.waiting, item);
        void Promise.resolve().then(() => deliver(subscription));
      }
    }
  }

  function listen(topic: string, take: Subscription["take"]): () => void {
    const subscription: Subscription = { take, waiting: undefined, active: true };
    const subscriptions = topics.get(topic) ?? new Set();
    topics.set(topic, subscriptions.add(subscription));
    return () => {
      subscription.active = false;
      subscriptions.delete(subscription);
      if (subscriptions.size === 0 && topics.get(topic) === subscriptions) topics.delete(topic);
    };
  }

  return {
    publish({ scope, session }, events) {
      if (topics.size === 0 || events.length === 0) return;
      const item = { session, events };
      enqueue(sessionTopic({ scope, session }), item);
      enqueue(scope, item);
    },
    notify: (scope, notification) => enqueue(scope, { notification }),
    subscribe: (ref, listener) => listen(sessionTopic(ref), (item) => "events" in item && listener(item.events)),
    subscribeScope: (scope, listener) => listen(scope, (item) => tell(listener, item)),
  };
}

/** No scope has a slash. */
const sessionTopic = ({ scope, session }: SessionRef): string => `${scope}/${session}`;

/** What one session publishes in one go is told in one go. */
function join(waiting: WaitingItem[], item: Item): void {
  const last = waiting.at(-1);
  if (!("events" in item)) waiting.push(item);
  else if (last && "events" in last && last.session === item.session) for (const event of item.events) last.events.push(event);
  else waiting.push({ session: item.session, events: [...item.events] });
}

function tell(listener: ScopeListener, item: Item): void {
  if ("events" in item) listener.events?.(item.session, item.events);
  else listener.notification?.(item.notification);
}
