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

/** Hears what other nodes say in the scopes that somebody here listens to. */
export interface Receiver {
  /** Hears the scope from now on, or soon: `reader.missed` tells when. */
  hear(scope: string, reader: FrameReader): void;
  /** Hears it no more, after a while; then `reader` is not used any more, and `forgotten` is called. */
  leave(scope: string, forgotten: () => void): void;
  /** Makes a new connection hear everything; resolves when it does. */
  prepare(connection: Connection): Promise<void>;
  /** To be called when the link is up, and when it is not. */
  up(): void;
  down(): void;
  close(): void;
}

interface Topic {
  readonly name: string;
  readonly reader: FrameReader;
  /** Whether Redis has confirmed that it tells us. */
  isHeard: boolean;
  /** The id of the last frame, by node. */
  readonly lastIds: Map<string, number>;
  cancelLeave: (() => void) | undefined;
}

export function createReceiver(options: ReceiverOptions): Receiver {
  return new RedisReceiver(options);
}

class RedisReceiver implements Receiver {
  readonly #options: ReceiverOptions;
  /** By name. */
  readonly #topics = new Map<string, Topic>();
  #cancelGaps: (() => void) | undefined;
  #stopHeartbeat: (() => void) | undefined;

  constructor(options: ReceiverOptions) {
    this.#options = options;
  }

  hear(scope: string, reader: FrameReader): void {
    const { prefix, link } = this.#options;
    const name = topicName(prefix, scope);
    const known = this.#topics.get(name);
    if (known) {
      known.cancelLeave?.();
      known.cancelLeave = undefined;
      return;
    }
    const topic: Topic = { name, reader, isHeard: false, lastIds: new Map(), cancelLeave: undefined };
    this.#topics.set(name, topic);
    this.#watchGaps();
    link.open();
    void this.#join(topic);
  }

  leave(scope: string, forgotten: () => void): void {
    const { prefix, link, clock } = this.#options;
    const topic = this.#topics.get(topicName(prefix, scope));
    if (!topic) return;
    const forget = (): void => {
      this.#topics.delete(topic.name);
      forgotten();
      const { connection } = link;
      connection?.unsubscribe(topic.name).catch((error) => connection === link.connection && link.renew(error));
    };
    topic.cancelLeave = clock.after(channelLimits.lingerMs, forget, { idle: true });
  }

  prepare(connection: Connection): Promise<void> {
    return this.#listen(connection, [...this.#topics.values()]);
  }

  up(): void {
    this.#options.link.proved();
    this.#stopHeartbeat = keepBeating(this.#options);
    for (const topic of this.#topics.values()) {
      if (topic.isHeard) topic.reader.missed(null);
      else void this.#join(topic);
    }
  }

  down(): void {
    this.#stopHeartbeat?.();
    for (const topic of this.#topics.values()) topic.isHeard = false;
    this.#watchGaps();
  }

  close(): void {
    this.#cancelGaps?.();
    this.#stopHeartbeat?.();
    for (const topic of this.#topics.values()) topic.cancelLeave?.();
    this.#topics.clear();
  }

  /** Asks everybody who cannot hear to look for themselves, again and again. */
  #watchGaps(): void {
    const tell = (): void => {
      this.#cancelGaps = undefined;
      const deaf = [...this.#topics.values()].filter(({ isHeard }) => !isHeard);
      if (deaf.length === 0) return;
      this.#watchGaps();
      for (const { reader } of deaf) reader.missed(null);
    };
    this.#cancelGaps ??= this.#options.clock.after(channelLimits.gapEveryMs, tell, { idle: true });
  }

  async #listen(connection: Connection, asked: readonly Topic[]): Promise<void> {
    const names = asked.map(({ name }) => name);
    if (names.length > 0) await connection.subscribe(names, (text, name) => this.#take(text, name));
    for (const topic of asked) {
      topic.isHeard = this.#topics.get(topic.name) === topic;
      topic.lastIds.clear();
    }
  }

  async #join(topic: Topic): Promise<void> {
    const { link } = this.#options;
    const { connection } = link;
    if (!connection) return;
    try {
      await this.#listen(connection, [topic]);
      if (topic.isHeard) topic.reader.missed(null);
    } catch (error) {
      if (connection === link.connection) link.renew(error);
    }
  }

  #take(text: string, name: string): void {
    const { node, logger } = this.#options;
    const topic = this.#topics.get(name);
    const head = topic && headOf(text);
    if (!topic?.isHeard || head?.node === node) return;
    if (!head) {
      // Another version speaks: the log tells what it said.
      topic.reader.missed(null);
      return;
    }
    const news = place(topic, head);
    if (news === "known") return;
    if (news === "after a gap") topic.reader.missed(null);
    try {
      readFrame(text, topic.reader);
    } catch (error) {
      logger.log("error", "The event channel heard what it cannot read.", { name: error instanceof Error ? error.name : typeof error });
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
    cancel = clock.after(deadlineMs, () => renew("timeout"), { idle: true });
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
