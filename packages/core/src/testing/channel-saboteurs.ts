import type { SessionEvent } from "../loop/event.ts";
import { memoryChannel } from "../memory/memory-channel.ts";
import type { EventChannel } from "../ports/event-channel.ts";
import type { ChannelUnderTest } from "./event-channel-kit.ts";
import type { Saboteur } from "./saboteur.ts";
import type { Make } from "./store-case.ts";

function spoiledChannel(spoil: (real: EventChannel) => Partial<EventChannel>): Make<ChannelUnderTest> {
  return async () => {
    const real = memoryChannel();
    return { channel: { ...real, ...spoil(real) }, patienceMs: 20 };
  };
}

/** Defects of event channels. */
export const channelSaboteurs: readonly Saboteur<ChannelUnderTest>[] = [
  {
    defect: "turns batches round",
    breaks: ["order", "two-listeners"],
    make: spoiledChannel((real) => ({ publish: (ref, events) => real.publish(ref, events.toReversed()) })),
  },
  {
    defect: "loses what is published twice in a turn",
    breaks: ["order", "two-listeners", "unsubscribe"],
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
    breaks: ["two-listeners", "throwing-listener"],
    make: spoiledChannel((real) => {
      const stops = new Map<string, () => void>();
      return {
        subscribe(ref, listener) {
          const key = `${ref.scope}/${ref.session}`;
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
    defect: "tells everybody of every session",
    breaks: ["sessions-apart"],
    make: spoiledChannel((real) => ({
      publish: (ref, events) => real.publish({ ...ref, session: "first" }, events),
      subscribe: (ref, listener) => real.subscribe({ ...ref, session: "first" }, listener),
    })),
  },
  {
    defect: "knows no scopes",
    breaks: ["scopes-apart"],
    make: spoiledChannel((real) => ({
      publish: (ref, events) => real.publish({ ...ref, scope: "local" }, events),
      subscribe: (ref, listener) => real.subscribe({ ...ref, scope: "local" }, listener),
    })),
  },
  {
    defect: "calls listeners while it publishes",
    breaks: ["publisher-first", "unsubscribe", "throwing-listener"],
    make: async () => {
      const listeners = new Map<string, Set<(events: readonly SessionEvent[]) => void>>();
      const channel: EventChannel = {
        ...memoryChannel(),
        publish({ scope, session }, events) {
          for (const listener of listeners.get(`${scope}/${session}`) ?? []) listener(events);
        },
        subscribe({ scope, session }, listener) {
          const own = (events: readonly SessionEvent[]): void => listener(events);
          const all = listeners.get(`${scope}/${session}`) ?? new Set();
          listeners.set(`${scope}/${session}`, all.add(own));
          return () => all.delete(own);
        },
      };
      return { channel, patienceMs: 20 };
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
