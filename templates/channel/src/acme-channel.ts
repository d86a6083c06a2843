import { memoryChannel, systemClock } from "@loopwright/core/memory";
import type { ChannelListening, Clock, EventChannel, Logger, Notification } from "@loopwright/core/ports";
import type { Bus, BusListener } from "./bus.ts";
import { type TcpBusOptions, tcpBus } from "./tcp-bus.ts";

type SessionEvents = Parameters<EventChannel["publish"]>[1];

/** A message on the bus; its topic is the scope. */
type Message =
  | { readonly session: string; readonly events: SessionEvents }
  | { readonly notification: Notification }
  | { readonly gap: true };

export interface AcmeChannelOptions extends TcpBusOptions {
  /** How many lanes, the newest that this node has received, can be recalled. Default 256. */
  readonly lanesKept?: number;
  /** Receives listeners that throw and messages that are none. Default: silent. */
  readonly logger?: Logger;
}

/** A channel with a connection of its own. */
export interface AcmeChannel extends EventChannel {
  close(): Promise<void>;
}

/** How often `gap` is called while a gap lasts. */
const gapEveryMs = 1_000;

interface Topic {
  /** True while the messages of other nodes arrive. */
  isJoined: boolean;
  readonly listeners: Set<ChannelListening>;
}

/** A channel between all nodes that know the same hub. */
export function acmeChannel(options: AcmeChannelOptions): AcmeChannel {
  const channel = new BusChannel(options, (listener) => tcpBus(options, listener));
  return {
    publish: (ref, events) => channel.publish(ref, events),
    notify: (scope, notification) => channel.notify(scope, notification),
    subscribe: (ref, listener, listening) => channel.subscribe(ref, listener, listening),
    subscribeScope: (scope, listener) => channel.subscribeScope(scope, listener),
    recall: (ref, lane) => channel.recall(ref, lane),
    close: () => channel.close(),
  };
}

/**
 * Owns: which scopes this node listens to, and what was not sent. Does not own: delivery within this node (`memoryChannel`), the connection (`Bus`).
 * Invariant: after an event was lost, `gap` is called for each listener that may have missed it.
 */
class BusChannel {
  readonly #local: EventChannel;
  readonly #bus: Bus;
  readonly #clock: Clock;
  readonly #logger: Logger | undefined;
  readonly #topics = new Map<string, Topic>();
  /** Scopes of which a message was not sent: `gap` is sent to their listeners on other nodes. */
  readonly #unsent = new Set<string>();
  #stopTimer: (() => void) | undefined;
  #isClosed = false;

  constructor({ clock = systemClock, logger, lanesKept = 256 }: AcmeChannelOptions, open: (listener: BusListener) => Bus) {
    this.#clock = clock;
    this.#logger = logger;
    this.#local = memoryChannel({ lanesKept, ...(logger ? { logger } : {}) });
    this.#bus = open({
      message: (scope, text) => this.#take(scope, text),
      joined: (scope) => this.#joined(scope),
      disconnected: () => {
        for (const topic of this.#topics.values()) topic.isJoined = false;
        this.#watch();
      },
    });
  }

  publish: EventChannel["publish"] = (ref, events) => {
    this.#local.publish(ref, events);
    if (events.length > 0) this.#send(ref.scope, { session: ref.session, events });
  };

  notify: EventChannel["notify"] = (scope, notification) => {
    this.#local.notify(scope, notification);
    this.#send(scope, { notification });
  };

  subscribe: EventChannel["subscribe"] = (ref, listener, listening = {}) =>
    this.#listen(ref.scope, { listening, stop: this.#local.subscribe(ref, listener) });

  subscribeScope: EventChannel["subscribeScope"] = (scope, listener) =>
    this.#listen(scope, { listening: listener, stop: this.#local.subscribeScope(scope, listener) });

  async recall(...[ref, lane]: Parameters<NonNullable<EventChannel["recall"]>>): ReturnType<NonNullable<EventChannel["recall"]>> {
    return (await this.#local.recall?.(ref, lane)) ?? [];
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopTimer?.();
    await this.#bus.close();
  }

  /** Joins the topic of a scope for as long as this node has a listener in it. */
  #listen(scope: string, { listening, stop }: { readonly listening: ChannelListening; readonly stop: () => void }): () => void {
    const known = this.#topics.get(scope);
    const topic: Topic = known ?? { isJoined: false, listeners: new Set() };
    // An object of its own, so that the same listener may subscribe twice.
    const own: ChannelListening = { gap: () => listening.gap?.() };
    topic.listeners.add(own);
    if (!known) {
      this.#topics.set(scope, topic);
      this.#bus.join(scope);
    } else if (topic.isJoined) queueMicrotask(() => this.#notifyGap(topic, own));
    this.#watch();
    return () => {
      stop();
      topic.listeners.delete(own);
      if (topic.listeners.size > 0 || this.#topics.get(scope) !== topic) return;
      this.#topics.delete(scope);
      this.#bus.leave(scope);
    };
  }

  #joined(scope: string): void {
    const topic = this.#topics.get(scope);
    if (!topic) return;
    topic.isJoined = true;
    for (const listener of topic.listeners) this.#notifyGap(topic, listener);
    this.#notifyUnsent();
  }

  #notifyGap(topic: Topic, listener: ChannelListening): void {
    if (!topic.listeners.has(listener)) return;
    try {
      listener.gap?.();
    } catch (error) {
      this.#report("A listener of the channel threw.", error);
    }
  }

  #send(scope: string, message: Message): void {
    if (this.#isClosed) return;
    this.#notifyUnsent();
    if (!this.#unsent.has(scope) && this.#bus.send(scope, JSON.stringify(message))) return;
    this.#unsent.add(scope);
    this.#watch();
  }

  /** Sends `gap` to other nodes for scopes with missing messages, as soon as the bus takes messages again. */
  #notifyUnsent(): void {
    const gap: Message = { gap: true };
    for (const scope of this.#unsent) if (this.#bus.send(scope, JSON.stringify(gap))) this.#unsent.delete(scope);
  }

  #take(scope: string, text: string): void {
    try {
      const message = JSON.parse(text) as Message;
      const topic = this.#topics.get(scope);
      if ("events" in message) this.#local.publish({ scope, session: message.session }, message.events);
      else if ("notification" in message) this.#local.notify(scope, message.notification);
      else for (const listener of topic?.listeners ?? []) if (topic) this.#notifyGap(topic, listener);
    } catch (error) {
      this.#report("A message of the channel could not be read.", error);
    }
  }

  /** Runs a timer while messages cannot be received or sent, and only then. */
  #watch(): void {
    const isWhole = (): boolean => this.#unsent.size === 0 && [...this.#topics.values()].every(({ isJoined }) => isJoined);
    if (this.#stopTimer || this.#isClosed || isWhole()) return;
    this.#stopTimer = this.#clock.after(gapEveryMs, () => {
      this.#stopTimer = undefined;
      this.#notifyUnsent();
      for (const topic of this.#topics.values())
        if (!topic.isJoined) for (const listener of topic.listeners) this.#notifyGap(topic, listener);
      this.#watch();
    });
  }

  #report(what: string, error: unknown): void {
    this.#logger?.log("error", what, { name: error instanceof Error ? error.name : typeof error });
  }
}
