import type { EphemeralEvent, SessionEvent } from "@loopwright/core";
import type { EventChannel, SessionRef } from "@loopwright/core/ports";
import type { Dice } from "./dice.ts";
import type { SimulatedNode } from "./simulated-node.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** How often the channel fails a message. Each a share from 0 to 1. */
export interface ChannelFaults {
  readonly dropped: number;
  readonly doubled: number;
  readonly late: number;
}

export interface SimulatedChannel {
  viewOf(node: SimulatedNode): EventChannel;
  /** Sessions to which this process is subscribed. */
  listensTo(node: string): ReadonlySet<string>;
  /** Nothing is carried to this node for so long, and nothing of that comes later. */
  cut(node: string, forMs: number): void;
}

interface Subscriber {
  readonly node: SimulatedNode;
  readonly session: string | undefined;
  readonly scope: string;
  readonly receive: (session: string, events: readonly SessionEvent[]) => void;
  /** Messages of one publisher stay in order: when the last one of each arrives. */
  readonly lastAtMs: Map<string, number>;
}

interface Message {
  readonly from: SimulatedNode;
  readonly session: string;
  readonly events: readonly SessionEvent[];
}

const sessionsOf = (listeners: ReadonlySet<Subscriber>, node: string): ReadonlySet<string> =>
  new Set([...listeners].flatMap((subscriber) => (subscriber.node.name === node ? (subscriber.session ?? []) : [])));

/** More than what moments lose when they are rounded. */
const leastGapMs = 0.001;

/** Entries that are kept of one lane. */
const ringMax = 4_096;

export function createChannel({
  time,
  dice,
  faults,
}: {
  readonly time: VirtualTime;
  readonly dice: Dice;
  readonly faults: () => ChannelFaults;
}): SimulatedChannel {
  const listeners = new Set<Subscriber>();
  const cutUntilMs = new Map<string, number>();
  const rings = new Map<string, EphemeralEvent[]>();

  const carry = (subscriber: Subscriber, { from, session, events }: Message): void => {
    const { dropped, doubled, late } = faults();
    if (time.nowMs < (cutUntilMs.get(subscriber.node.name) ?? 0) || dice.chance(dropped)) return;
    const isLate = dice.chance(late);
    const planned = time.nowMs + (isLate ? dice.between(5, 400) : dice.between(0.1, 3));
    const atMs = isLate ? planned : Math.max(planned, (subscriber.lastAtMs.get(from.name) ?? 0) + leastGapMs);
    if (!isLate) subscriber.lastAtMs.set(from.name, atMs);
    const copy = events.map((event) => ({ ...event }));
    const arrive = (): void => {
      if (time.nowMs >= (cutUntilMs.get(subscriber.node.name) ?? 0))
        subscriber.node.enter(() => listeners.has(subscriber) && subscriber.receive(session, copy));
    };
    for (let times = dice.chance(doubled) ? 2 : 1; times > 0; times--) time.schedule(atMs - time.nowMs, arrive);
  };
  const keep = ({ scope, session }: SessionRef, events: readonly SessionEvent[]): void => {
    for (const event of events) {
      if (!("lane" in event)) continue;
      const key = `${scope}/${session}/${event.lane}`;
      const ring = rings.get(key) ?? [];
      rings.set(key, ring);
      ring.push({ ...event });
      if (ring.length > ringMax) ring.shift();
    }
  };
  const listen = (subscriber: Subscriber): (() => void) => listeners.add(subscriber) && (() => void listeners.delete(subscriber));

  return {
    listensTo: (node) => sessionsOf(listeners, node),
    cut: (node, forMs) => void cutUntilMs.set(node, time.nowMs + forMs),
    viewOf: (node) => ({
      publish(ref, events) {
        if (events.length === 0 || !node.does("publish", `${ref.session} ${events.map(({ type }) => type).join()}`)) return;
        keep(ref, events);
        for (const subscriber of listeners)
          if (subscriber.scope === ref.scope && (subscriber.session === undefined || subscriber.session === ref.session))
            carry(subscriber, { from: node, session: ref.session, events });
      },
      notify() {},
      subscribe: ({ scope, session }, listener) =>
        listen({ node, scope, session, receive: (_, events) => listener(events), lastAtMs: new Map() }),
      subscribeScope: (scope, listener) =>
        listen({
          node,
          scope,
          session: undefined,
          receive: (session, events) => listener.events?.(session, events),
          lastAtMs: new Map(),
        }),
      recall: ({ scope, session }, lane) =>
        node.ask({
          kind: "recall",
          detail: `${session} ${lane}`,
          run: async () => (rings.get(`${scope}/${session}/${lane}`) ?? []).map((event) => ({ ...event })),
          lost: () => [],
        }),
    }),
  };
}
