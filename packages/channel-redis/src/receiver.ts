import { startDeadline } from "@loopwright/core/memory";
import type { Clock, Logger } from "@loopwright/core/ports";
import { channelLimits } from "./channel-limits.ts";
import { type FrameHead, type FrameReader, headOf, readFrame } from "./frame.ts";
import type { Connection, RedisLink } from "./redis-link.ts";
import { topicName } from "./topic-name.ts";

export interface ReceiverOptions {
  readonly node: string;
  readonly prefix: string;
  readonly link: RedisLink;
  readonly deadlineMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Receives frames of other nodes, in the scopes that have a listener here. */
export interface Receiver {
  /** Subscribes to the scope; `reader.missed` is called once the subscription stands. */
  receive(scope: string, reader: FrameReader): void;
  /** Unsubscribes after a while; from then on `reader` is not used, and `forgotten` is called. */
  leave(scope: string, forgotten: () => void): void;
  /** Subscribes a new connection to every topic; resolves when all are confirmed. */
  prepare(connection: Connection): Promise<void>;
  /** To be called when the link is up, and when it is not. */
  up(): void;
  down(): void;
  close(): void;
}

interface Topic {
  readonly name: string;
  readonly reader: FrameReader;
  /** Whether Redis has confirmed the subscription. */
  isReceived: boolean;
  /** The id of the last frame, by node. */
  readonly lastIds: Map<string, number>;
  cancelLeave: (() => void) | undefined;
}

/** One connection that listens. */
interface Listener {
  readonly connection: Connection;
  /** Names of the topics that Redis has confirmed. */
  readonly received: Set<string>;
  /** Names of the topics that have come or gone since the last change was sent. */
  readonly stale: Set<string>;
  isSettling: boolean;
}

export function createReceiver(options: ReceiverOptions): Receiver {
  return new RedisReceiver(options);
}

/**
 * Owns: the topics that the connection is subscribed to.
 * I1: at most one change of them is under way: the client library answers a SUBSCRIBE itself, without sending it, while an UNSUBSCRIBE of the
 * same topic is unanswered, and from then on the topic is silent.
 */
class RedisReceiver implements Receiver {
  readonly #options: ReceiverOptions;
  /** By name. */
  readonly #topics = new Map<string, Topic>();
  #listener: Listener | undefined;
  #cancelGaps: (() => void) | undefined;
  #stopHeartbeat: (() => void) | undefined;

  constructor(options: ReceiverOptions) {
    this.#options = options;
  }

  receive(scope: string, reader: FrameReader): void {
    const { prefix, link } = this.#options;
    const name = topicName(prefix, scope);
    const known = this.#topics.get(name);
    if (known) {
      known.cancelLeave?.();
      known.cancelLeave = undefined;
      return;
    }
    const topic: Topic = { name, reader, isReceived: false, lastIds: new Map(), cancelLeave: undefined };
    this.#topics.set(name, topic);
    this.#watchGaps();
    link.open();
    void this.#join(name);
  }

  leave(scope: string, forgotten: () => void): void {
    const { prefix, clock } = this.#options;
    const topic = this.#topics.get(topicName(prefix, scope));
    if (!topic) return;
    const forget = (): void => {
      this.#topics.delete(topic.name);
      forgotten();
      void this.#join(topic.name);
    };
    topic.cancelLeave = clock.after(channelLimits.lingerMs, forget, { idle: true });
  }

  prepare(connection: Connection): Promise<void> {
    this.#listener = { connection, received: new Set(), stale: new Set(), isSettling: false };
    return this.#settle(this.#listener, [...this.#topics.keys()]);
  }

  up(): void {
    this.#options.link.proved();
    this.#stopHeartbeat = keepBeating(this.#options);
    for (const topic of this.#topics.values()) {
      if (topic.isReceived) topic.reader.missed(null);
      else void this.#join(topic.name);
    }
  }

  down(): void {
    this.#listener = undefined;
    this.#stopHeartbeat?.();
    for (const topic of this.#topics.values()) topic.isReceived = false;
    this.#watchGaps();
  }

  close(): void {
    this.#cancelGaps?.();
    this.#stopHeartbeat?.();
    for (const topic of this.#topics.values()) topic.cancelLeave?.();
    this.#topics.clear();
  }

  /** Calls every listener without a subscription to read the log itself, again and again. */
  #watchGaps(): void {
    const notify = (): void => {
      this.#cancelGaps = undefined;
      const deaf = [...this.#topics.values()].filter(({ isReceived }) => !isReceived);
      if (deaf.length === 0) return;
      this.#watchGaps();
      for (const { reader } of deaf) reader.missed(null);
    };
    this.#cancelGaps ??= this.#options.clock.after(channelLimits.gapEveryMs, notify, { idle: true });
  }

  /** Subscribes the connection to those of these topics that are known, and unsubscribes it from the others. @throws what the client throws */
  async #settle(listener: Listener, names: readonly string[]): Promise<void> {
    for (const name of names) listener.stale.add(name);
    if (listener.isSettling) return;
    listener.isSettling = true;
    while (this.#listener === listener && listener.stale.size > 0) {
      const stale = [...listener.stale];
      listener.stale.clear();
      await this.#change(listener, stale);
      if (this.#listener === listener) this.#confirm(listener, stale);
    }
    listener.isSettling = false;
  }

  async #change({ connection, received }: Listener, names: readonly string[]): Promise<void> {
    const left = names.filter((name) => received.has(name) && !this.#topics.has(name));
    const joined = names.filter((name) => !received.has(name) && this.#topics.has(name));
    await Promise.all([
      left.length > 0 && connection.unsubscribe(left),
      joined.length > 0 && connection.subscribe(joined, (text, name) => this.#take(text, name)),
    ]);
    for (const name of left) received.delete(name);
    for (const name of joined) received.add(name);
  }

  #confirm({ connection, received }: Listener, names: readonly string[]): void {
    for (const name of names) {
      const topic = this.#topics.get(name);
      if (!topic || topic.isReceived || !received.has(name)) continue;
      topic.isReceived = true;
      topic.lastIds.clear();
      // While the link is being established, `up` is false.
      if (this.#options.link.connection === connection) topic.reader.missed(null);
    }
  }

  /** Joins the topic, or leaves it when it is known no more. */
  async #join(name: string): Promise<void> {
    const { link } = this.#options;
    const listener = this.#listener;
    if (!listener) return;
    try {
      await this.#settle(listener, [name]);
    } catch (error) {
      if (listener.connection === link.connection) link.renew(error);
    }
  }

  #take(text: string, name: string): void {
    const { node, logger } = this.#options;
    const topic = this.#topics.get(name);
    const head = topic && headOf(text);
    if (!topic?.isReceived || head?.node === node) return;
    if (!head) {
      // A frame of another version: its events are read from the log.
      topic.reader.missed(null);
      return;
    }
    const news = place(topic, head);
    if (news === "known") return;
    if (news === "after a gap") topic.reader.missed(null);
    try {
      readFrame(text, topic.reader);
    } catch (error) {
      logger.log("error", "The event channel received a message that it cannot read.", {
        name: error instanceof Error ? error.name : typeof error,
      });
      topic.reader.missed(null);
    }
  }
}

/** Whether a frame is the next one of its node. */
function place({ lastIds }: Topic, { node, id, previous }: FrameHead): "next" | "known" | "after a gap" {
  const last = lastIds.get(node);
  if (last !== undefined && id <= last) return "known";
  lastIds.delete(node);
  lastIds.set(node, id);
  if (lastIds.size > channelLimits.nodes) for (const [oldest] of lastIds) if (lastIds.delete(oldest)) break;
  return last === undefined || previous === last ? "next" : "after a gap";
}

/** Tries the connection again and again, and has it made anew when it is silent. Gives what ends that. */
function keepBeating({ link, clock, deadlineMs }: ReceiverOptions): () => void {
  const { connection } = link;
  let cancel = (): void => {};
  const renew = (cause: unknown): void => {
    if (connection === link.connection) link.renew(cause);
  };
  const beat = async (): Promise<void> => {
    cancel = startDeadline(clock, { ms: deadlineMs, idle: true }, () => renew("timeout"));
    try {
      await connection?.ping();
      cancel();
      if (connection === link.connection) wait();
    } catch (error) {
      renew(error);
    }
  };
  const wait = (): void => {
    cancel = clock.after(channelLimits.heartbeatMs, () => void beat(), { idle: true });
  };
  wait();
  return () => cancel();
}
