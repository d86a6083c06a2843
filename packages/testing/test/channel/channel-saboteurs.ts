import type { EventChannel, SessionEvent } from "@loopwright/core";
import { refKey } from "@loopwright/core/ports";
import type { ChannelUnderTest } from "../../src/channel/channel-under-test.ts";
import type { Saboteur } from "../../src/kit/saboteur.ts";
import type { Make } from "../../src/kit/store-case.ts";
import { memoryNodes } from "./memory-nodes.ts";

/** Nodes of which the first is changed. */
export function spoiledChannel(spoil: (real: EventChannel) => Partial<EventChannel>): Make<ChannelUnderTest> {
  return async () => {
    const nodes = memoryNodes();
    return { ...nodes, channel: { ...nodes.channel, ...spoil(nodes.channel) } };
  };
}

/** Defects of event channels. */
export const channelSaboteurs: readonly Saboteur<ChannelUnderTest>[] = [
  {
    defect: "turns batches round",
    breaks: [
      "burst",
      "nodes-burst",
      "nodes-characters",
      "order",
      "two-listeners",
      "scope-events",
      "nodes-order",
      "nodes-both-ways",
      "nodes-content",
      "recall",
      "recall-grows",
      "recall-bounded",
    ],
    make: spoiledChannel((real) => ({ publish: (ref, events) => real.publish(ref, events.toReversed()) })),
  },
  {
    defect: "loses what is published twice in a turn",
    breaks: [
      "burst",
      "nodes-burst",
      "nodes-characters",
      "recall-characters",
      "order",
      "two-listeners",
      "unsubscribe",
      "scope-unsubscribe",
      "nodes-scope",
      "recall",
      "recall-grows",
      "recall-bounded",
    ],
    make: spoiledChannel((real) => {
      let isBusy = false;
      return {
        publish(ref, events) {
          if (isBusy && ref.session === "first" && ref.scope === "local") return;
          isBusy = ref.session === "first" && ref.scope === "local";
          real.publish(ref, events);
          void Promise.resolve().then(() => {
            isBusy = false;
          });
        },
      };
    }),
  },
  {
    defect: "has room for one listener",
    breaks: ["two-listeners", "throwing-listener", "nodes-both-ways"],
    make: spoiledChannel((real) => {
      const stops = new Map<string, () => void>();
      return {
        subscribe(ref, listener) {
          const key = refKey(ref);
          stops.get(key)?.();
          const stop = real.subscribe(ref, listener);
          stops.set(key, stop);
          return stop;
        },
      };
    }),
  },
  {
    defect: "repeats the past to new listeners",
    breaks: ["from-now-on"],
    make: spoiledChannel((real) => {
      const past: SessionEvent[] = [];
      return {
        publish(ref, events) {
          past.push(...events);
          real.publish(ref, events);
        },
        subscribe(ref, listener) {
          const stop = real.subscribe(ref, listener);
          if (past.length > 0) listener([...past]);
          return stop;
        },
      };
    }),
  },
  {
    defect: "cannot be left",
    breaks: ["unsubscribe"],
    make: spoiledChannel((real) => ({
      subscribe(ref, listener) {
        real.subscribe(ref, listener);
        return () => {};
      },
    })),
  },
  {
    defect: "notifies every subscriber of every session",
    breaks: ["sessions-apart", "scope-events", "nodes-order", "nodes-apart", "nodes-hostile", "recall"],
    make: spoiledChannel((real) => ({
      publish: (ref, events) => real.publish({ ...ref, session: "first" }, events),
      subscribe: (ref, listener) => real.subscribe({ ...ref, session: "first" }, listener),
    })),
  },
  {
    defect: "knows no scopes",
    breaks: ["scopes-apart", "scope-apart", "nodes-apart", "nodes-content", "nodes-hostile", "recall"],
    make: spoiledChannel((real) => ({
      publish: (ref, events) => real.publish({ ...ref, scope: "local" }, events),
      subscribe: (ref, listener) => real.subscribe({ ...ref, scope: "local" }, listener),
    })),
  },
  {
    defect: "calls listeners while it publishes",
    breaks: ["publisher-first", "unsubscribe", "throwing-listener", "nodes-both-ways"],
    make: async () => {
      const { channel: real, ...nodes } = memoryNodes();
      const listeners = new Map<string, Set<(events: readonly SessionEvent[]) => void>>();
      const channel: EventChannel = {
        ...real,
        publish({ scope, session }, events) {
          real.publish({ scope, session }, events);
          for (const listener of listeners.get(refKey({ scope, session })) ?? []) listener(events);
        },
        subscribe({ scope, session }, listener) {
          const own = (events: readonly SessionEvent[]): void => listener(events);
          const all = listeners.get(refKey({ scope, session })) ?? new Set();
          listeners.set(refKey({ scope, session }), all.add(own));
          return () => all.delete(own);
        },
      };
      return { ...nodes, channel };
    },
  },
  {
    defect: "drops a listener that has thrown",
    breaks: ["throwing-listener"],
    make: spoiledChannel((real) => ({
      subscribe(ref, listener) {
        const stop = real.subscribe(ref, (events) => {
          try {
            listener(events);
          } catch {
            stop();
          }
        });
        return stop;
      },
    })),
  },
];
