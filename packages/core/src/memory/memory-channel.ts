import type { SessionEvent } from "../loop/event.ts";
import type { EventChannel, Notification, ScopeListener } from "../ports/event-channel.ts";
import type { Logger } from "../ports/logger.ts";
import { laneMemory } from "./recent-lane-events.ts";
import { silentLogger } from "./silent-logger.ts";

/** Events of one session, or a notification. */
type Item<Events = readonly SessionEvent[]> =
  | { readonly session: string; readonly events: Events }
  | { readonly notification: Notification };

/** An item that waits for its delivery. */
type WaitingItem = Item<SessionEvent[]>;

interface Subscription {
  readonly take: (item: Item) => void;
  /** Items that are not delivered yet. Absent: none. */
  waiting: WaitingItem[] | undefined;
  active: boolean;
}

export interface MemoryChannelOptions {
  /** How many of the newest lanes can be recalled. Default 0: the channel has no `recall`. */
  readonly lanesKept?: number;
  /** Logs listeners that throw. Default: silent. */
  readonly logger?: Logger;
}

/** A channel within this process, marked by `reach`. Listeners are called after `publish` has returned, with all that was published until then. */
export function memoryChannel(options?: MemoryChannelOptions): EventChannel {
  const logger = options?.logger ?? silentLogger;
  const lanesKept = options?.lanesKept ?? 0;
  const lanes = lanesKept > 0 ? laneMemory(lanesKept) : undefined;
  /** Subscriptions by scope and session; `null`: to the whole scope. */
  const topics = new Map<string, Map<string | null, Set<Subscription>>>();

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

  function enqueue(subscriptions: ReadonlySet<Subscription> | undefined, item: Item): void {
    for (const subscription of subscriptions ?? []) {
      if (subscription.waiting) join(subscription.waiting, item);
      else {
        subscription.waiting = [];
        join(subscription.waiting, item);
        void Promise.resolve().then(() => deliver(subscription));
      }
    }
  }

  function listen(scope: string, session: string | null, take: Subscription["take"]): () => void {
    const subscription: Subscription = { take, waiting: undefined, active: true };
    const topic = topics.get(scope) ?? new Map<string | null, Set<Subscription>>();
    const subscriptions = topic.get(session) ?? new Set();
    topics.set(scope, topic.set(session, subscriptions.add(subscription)));
    return () => {
      subscription.active = false;
      subscriptions.delete(subscription);
      if (subscriptions.size === 0 && topic.get(session) === subscriptions) topic.delete(session);
      if (topic.size === 0 && topics.get(scope) === topic) topics.delete(scope);
    };
  }

  return {
    reach: "process",
    publish(ref, events) {
      lanes?.keep(ref, events);
      const topic = topics.get(ref.scope);
      if (!topic || events.length === 0) return;
      const item = { session: ref.session, events };
      enqueue(topic.get(ref.session), item);
      enqueue(topic.get(null), item);
    },
    notify: (scope, notification) => enqueue(topics.get(scope)?.get(null), { notification }),
    subscribe: ({ scope, session }, listener) => listen(scope, session, (item) => "events" in item && listener(item.events)),
    subscribeScope: (scope, listener) => listen(scope, null, (item) => handOver(listener, item)),
    ...(lanes ? { recall: async (ref, lane) => lanes.recall(ref, lane) } : {}),
  };
}

/** Joins consecutive events of one session, for one delivery. */
function join(waiting: WaitingItem[], item: Item): void {
  const last = waiting.at(-1);
  if (!("events" in item)) waiting.push(item);
  else if (last && "events" in last && last.session === item.session) for (const event of item.events) last.events.push(event);
  else waiting.push({ session: item.session, events: [...item.events] });
}

function handOver(listener: ScopeListener, item: Item): void {
  if ("events" in item) listener.events?.(item.session, item.events);
  else listener.notification?.(item.notification);
}
