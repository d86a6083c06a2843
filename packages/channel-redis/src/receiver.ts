import type { Clock, Logger } from "@loopwright/core/ports";
import { channelLimits } from "./channel-limits.ts";
import { type FrameReader, headOf, readFrame } from "./frame.ts";
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
  /** Hears it no more, after a while. */
  leave(scope: string): void;
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

export function createReceiver({ node, prefix, link, deadlineMs, clock, logger }: ReceiverOptions): Receiver {
  /** By name. */
  const topics = new Map<string, Topic>();
  let cancelGaps: (() => void) | undefined;
  let cancelHeartbeat: (() => void) | undefined;

  /** Asks everybody who cannot hear to look for themselves, again and again. */
  function watchGaps(): void {
    cancelGaps ??= clock.after(
      channelLimits.gapEveryMs,
      () => {
        cancelGaps = undefined;
        const deaf = [...topics.values()].filter(({ isHeard }) => !isHeard);
        if (deaf.length === 0) return;
        watchGaps();
        for (const { reader } of deaf) reader.missed(null);
      },
      { idle: true },
    );
  }

  function onMessage(text: string, name: string): void {
    const topic = topics.get(name);
    const head = topic && headOf(text);
    if (!topic?.isHeard || head?.node === node) return;
    // Another version speaks: the log tells what it said.
    if (!head) {
      topic.reader.missed(null);
      return;
    }
    const last = topic.lastIds.get(head.node);
    if (last !== undefined && head.id <= last) return;
    topic.lastIds.delete(head.node);
    topic.lastIds.set(head.node, head.id);
    if (topic.lastIds.size > channelLimits.nodes) for (const [oldest] of topic.lastIds) if (topic.lastIds.delete(oldest)) break;
    if (last !== undefined && head.previous !== last) topic.reader.missed(null);
    try {
      readFrame(text, topic.reader);
    } catch (error) {
      logger.log("error", "The event channel heard what it cannot read.", { name: error instanceof Error ? error.name : typeof error });
      topic.reader.missed(null);
    }
  }

  async function listen(connection: Connection, asked: readonly Topic[]): Promise<void> {
    const names = asked.map(({ name }) => name);
    if (names.length > 0) await connection.subscribe(names, onMessage);
    for (const topic of asked) {
      topic.isHeard = topics.get(topic.name) === topic;
      topic.lastIds.clear();
    }
  }

  async function join(topic: Topic): Promise<void> {
    const { connection } = link;
    if (!connection) return;
    try {
      await listen(connection, [topic]);
      if (topic.isHeard) topic.reader.missed(null);
    } catch (error) {
      if (connection === link.connection) link.renew(error);
    }
  }

  function heartbeat(connection: Connection): void {
    cancelHeartbeat = clock.after(
      channelLimits.heartbeatMs,
      async () => {
        if (connection !== link.connection) return;
        cancelHeartbeat = clock.after(deadlineMs, () => connection === link.connection && link.renew("timeout"), { idle: true });
        try {
          await connection.ping();
          cancelHeartbeat();
          if (connection === link.connection) heartbeat(connection);
        } catch (error) {
          if (connection === link.connection) link.renew(error);
        }
      },
      { idle: true },
    );
  }

  return {
    hear(scope, reader) {
      const name = topicName(prefix, scope);
      const known = topics.get(name);
      known?.cancelLeave?.();
      if (known) {
        known.cancelLeave = undefined;
        return;
      }
      const topic: Topic = { name, reader, isHeard: false, lastIds: new Map(), cancelLeave: undefined };
      topics.set(name, topic);
      watchGaps();
      link.open();
      void join(topic);
    },
    leave(scope) {
      const topic = topics.get(topicName(prefix, scope));
      if (!topic) return;
      const forget = (): void => {
        topics.delete(topic.name);
        const { connection } = link;
        connection?.unsubscribe(topic.name).catch((error) => connection === link.connection && link.renew(error));
      };
      topic.cancelLeave = clock.after(channelLimits.lingerMs, forget, { idle: true });
    },
    prepare: (connection) => listen(connection, [...topics.values()]),
    up() {
      if (link.connection) heartbeat(link.connection);
      for (const topic of topics.values()) {
        if (topic.isHeard) topic.reader.missed(null);
        else void join(topic);
      }
    },
    down() {
      cancelHeartbeat?.();
      for (const topic of topics.values()) topic.isHeard = false;
      watchGaps();
    },
    close() {
      cancelGaps?.();
      cancelHeartbeat?.();
      for (const topic of topics.values()) topic.cancelLeave?.();
      topics.clear();
    },
  };
}
