import { startDeadline, systemClock } from "@loopwright/core/memory";
import type { SessionRef } from "@loopwright/core/ports";
import { type Client, type ClientFactory, dispose } from "../connection/client-factory.ts";
import type { Connection } from "../connection/connection.ts";
import type { StoreKeys } from "../keys.ts";

interface Topic {
  readonly ref: SessionRef;
  readonly listeners: Set<(lastSeq: number) => void>;
  /** The newest seq that listeners were notified of; 0 for a log that was removed. */
  notified: number | undefined;
  /** Its tail was asked for, since a part may have been missed, and Redis gave no answer. */
  isUnsure: boolean;
}

/** One connection that listens. */
interface Subscriber {
  readonly client: Client;
  /** Confirmed subscriptions, by channel. */
  readonly received: Map<string, Topic>;
  /** Channels whose topic has come or gone since the last change was sent. */
  readonly stale: Set<string>;
  isSettling: boolean;
}

/** How soon a lost connection is made again, with full jitter, and how often a silent one is asked whether it is there. */
const timing = { baseMs: 50, capMs: 1_000, pingMs: 1_000 } as const;

/**
 * Owns: the connection that receives appends of other processes. It lives from the first listener on, apart from the one that writes.
 * I1: a listener of a session gets the tail after every connection that was made: what was published before it did not arrive.
 * A look without an answer is repeated with every ping. I2: a dead connection is detected by a ping. I3: while none can be made,
 * the tails are looked at with every attempt.
 * I4: it never keeps the process alive. I5: at most one change of the subscriptions is under way: the client library answers a SUBSCRIBE itself,
 * without sending it, while an UNSUBSCRIBE of the same channel is unanswered, and from then on the channel is silent.
 */
export class TailSubscriptions {
  readonly #factory: ClientFactory;
  readonly #connection: Pick<Connection, "ask">;
  readonly #keys: StoreKeys;
  readonly #deadlineMs: number;
  readonly #topics = new Map<string, Topic>();
  #subscriber: Subscriber | undefined;
  #isConnecting = false;
  #isClosed = false;
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: {
    readonly factory: ClientFactory;
    readonly connection: Pick<Connection, "ask">;
    readonly keys: StoreKeys;
    readonly deadlineMs: number;
  }) {
    this.#factory = options.factory;
    this.#connection = options.connection;
    this.#keys = options.keys;
    this.#deadlineMs = options.deadlineMs;
  }

  subscribe(ref: SessionRef, listener: (lastSeq: number) => void): () => void {
    const channel = this.#keys.session(ref).tail;
    const known = this.#topics.get(channel);
    const topic = known ?? { ref, listeners: new Set(), notified: undefined, isUnsure: false };
    // A wrapper of its own, so that the same function may listen twice.
    const own = (lastSeq: number): void => listener(lastSeq);
    topic.listeners.add(own);
    if (!known) this.#topics.set(channel, topic);
    if (!this.#subscriber) this.#connect();
    else if (!known) void this.#settle(this.#subscriber, [channel]);
    return () => {
      if (!topic.listeners.delete(own) || topic.listeners.size > 0 || this.#topics.get(channel) !== topic) return;
      this.#topics.delete(channel);
      if (this.#subscriber) void this.#settle(this.#subscriber, [channel]);
    };
  }

  /** Notifies the listeners of a session, outside the caller's turn. `lastSeq` 0: it was removed. */
  notify(ref: SessionRef, lastSeq: number): void {
    if (this.#topics.size > 0) this.#notify(this.#topics.get(this.#keys.session(ref).tail), lastSeq);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#topics.clear();
    if (this.#subscriber) this.#lose(this.#subscriber.client);
  }

  #notify(topic: Topic | undefined, lastSeq: number): void {
    if (!topic || !Number.isInteger(lastSeq) || lastSeq === topic.notified || (lastSeq !== 0 && lastSeq < (topic.notified ?? 0))) return;
    topic.notified = lastSeq;
    queueMicrotask(() => {
      for (const listener of topic.listeners) listener(lastSeq);
    });
  }

  #connect(): void {
    if (this.#isConnecting || this.#isClosed || this.#subscriber) return;
    clearTimeout(this.#timer);
    this.#isConnecting = true;
    const client = this.#factory.make();
    client.on("error", () => this.#lose(client));
    client.on("end", () => this.#lose(client));
    this.#factory
      .open(client, this.#deadlineMs)
      .then(() => {
        this.#isConnecting = false;
        if (this.#isClosed || !client.isReady) return this.#retry(client);
        const subscriber: Subscriber = { client, received: new Map(), stale: new Set(), isSettling: false };
        this.#subscriber = subscriber;
        client.unref();
        this.#pingLater(client);
        return this.#settle(subscriber, [...this.#topics.keys()]);
      })
      .catch(() => {
        this.#isConnecting = false;
        this.#retry(client);
        return this.#notifyMissed([...this.#topics.keys()], { again: false });
      });
  }

  /** Subscribes the connection to those of these channels that have a topic, and unsubscribes it from the others. Never rejects. */
  async #settle(subscriber: Subscriber, channels: readonly string[]): Promise<void> {
    for (const channel of channels) subscriber.stale.add(channel);
    if (subscriber.isSettling) return;
    subscriber.isSettling = true;
    while (this.#subscriber === subscriber && subscriber.stale.size > 0) {
      const stale = [...subscriber.stale];
      subscriber.stale.clear();
      try {
        await this.#change(subscriber, stale);
      } catch {
        this.#lose(subscriber.client);
        // Where one may not listen one still may look.
        await this.#notifyMissed([...stale, ...subscriber.stale], { again: false });
      }
    }
    subscriber.isSettling = false;
  }

  /** Sends the difference, and notifies of what was missed until it was confirmed. */
  async #change({ client, received }: Subscriber, channels: readonly string[]): Promise<void> {
    const left = channels.filter((channel) => received.has(channel) && !this.#topics.has(channel));
    const wanted = channels.flatMap((channel) => {
      const topic = this.#topics.get(channel);
      return topic && received.get(channel) !== topic ? [[channel, topic] as const] : [];
    });
    const joined = wanted.map(([channel]) => channel).filter((channel) => !received.has(channel));
    await Promise.all([
      left.length > 0 && client.unsubscribe(left),
      joined.length > 0 && client.subscribe(joined, (message, channel) => this.#notify(this.#topics.get(channel), Number(message))),
    ]);
    for (const channel of left) received.delete(channel);
    for (const [channel, topic] of wanted) received.set(channel, topic);
    this.#failures = 0;
    // Not awaited: callers that subscribe or unsubscribe must not wait for the other connection.
    void this.#notifyMissed(
      wanted.map(([channel]) => channel),
      { again: true },
    );
  }

  /** Asks where the logs end and notifies; with `again` also of tails already reported, for listeners that may have missed them. */
  async #notifyMissed(channels: readonly string[], { again }: { readonly again: boolean }): Promise<void> {
    await Promise.all(
      channels.map(async (channel) => {
        const topic = this.#topics.get(channel);
        if (!topic) return;
        const { lastSeq, isKnown } = await this.#tailOf(topic);
        // A tail already reported is repeated once, not with every look that has no answer.
        if (topic.isUnsure && !isKnown) return;
        topic.isUnsure = !isKnown;
        if (again) topic.notified = undefined;
        if (lastSeq !== undefined) this.#notify(topic, lastSeq);
      }),
    );
  }

  /** Without `lastSeq` there is nothing to report. A tail that has gone back is reported: history was lost, which a read detects. */
  async #tailOf({ ref, notified }: Topic): Promise<{ readonly lastSeq: number | undefined; readonly isKnown: boolean }> {
    const outcome = await this.#connection.ask(["HMGET", this.#keys.session(ref).meta, "seq", "removed"]);
    if (outcome.type !== "replied" || !Array.isArray(outcome.reply)) return { lastSeq: notified, isKnown: false };
    const [seq, removed] = outcome.reply;
    const lastSeq = removed ? 0 : Number(seq ?? 0);
    return { lastSeq: lastSeq > 0 || removed || notified !== undefined ? lastSeq : undefined, isKnown: true };
  }

  #pingLater(client: Client): void {
    this.#timer = setTimeout(() => void this.#ping(client), timing.pingMs).unref();
  }

  async #ping(client: Client): Promise<void> {
    if (this.#subscriber?.client !== client) return;
    const cancel = startDeadline(systemClock, { ms: this.#deadlineMs, idle: true }, () => this.#lose(client));
    try {
      await client.sendCommand(["PING"]);
      if (this.#subscriber?.client !== client) return;
      this.#pingLater(client);
      const unsure = [...this.#topics].flatMap(([channel, topic]) => (topic.isUnsure ? [channel] : []));
      void this.#notifyMissed(unsure, { again: true });
    } catch {
      this.#lose(client);
    } finally {
      cancel();
    }
  }

  #lose(client: Client): void {
    dispose(client);
    if (this.#subscriber?.client !== client) return;
    this.#subscriber = undefined;
    this.#retry(client);
  }

  /** Only while there is a listener. */
  #retry(client: Client): void {
    dispose(client);
    clearTimeout(this.#timer);
    if (this.#isClosed || this.#topics.size === 0) return;
    const waitMs = Math.random() * Math.min(timing.capMs, timing.baseMs * 2 ** this.#failures++);
    this.#timer = setTimeout(() => this.#connect(), waitMs).unref();
  }
}
