import type { SessionEvent } from "../loop/event.ts";
import type { EventChannel, ScopeListener } from "../ports/event-channel.ts";
import type { ChannelUnderTest } from "./channel-under-test.ts";
import { memoryNodes } from "./memory-nodes.ts";
import type { Saboteur } from "./saboteur.ts";
import type { Make } from "./store-case.ts";

function spoiledChannel(spoil: (real: EventChannel) => Partial<EventChannel>): Make<ChannelUnderTest> {
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
    breaks: ["order", "two-listeners", "unsubscribe", "scope-unsubscribe", "nodes-scope", "recall", "recall-grows", "recall-bounded"],
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
          for (const listener of listeners.get(`${scope}/${session}`) ?? []) listener(events);
        },
        subscribe({ scope, session }, listener) {
          const own = (events: readonly SessionEvent[]): void => listener(events);
          const all = listeners.get(`${scope}/${session}`) ?? new Set();
          listeners.set(`${scope}/${session}`, all.add(own));
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
  {
    defect: "keeps events from those who listen to the scope",
    breaks: ["scope-events", "scope-apart", "notification-apart", "scope-unsubscribe", "scope-publisher-first", "scope-throwing"],
    make: spoiledChannel((real) => ({
      subscribeScope: (scope, { notification }) => real.subscribeScope(scope, notification ? { notification } : {}),
    })),
  },
  {
    defect: "keeps notifications back",
    breaks: [
      "scope-apart",
      "notification",
      "notification-apart",
      "scope-unsubscribe",
      "scope-publisher-first",
      "scope-throwing",
      "nodes-scope",
    ],
    make: spoiledChannel(() => ({ notify() {} })),
  },
  {
    defect: "notifies twice",
    breaks: [
      "scope-apart",
      "notification",
      "notification-apart",
      "scope-unsubscribe",
      "scope-publisher-first",
      "scope-throwing",
      "nodes-scope",
    ],
    make: spoiledChannel((real) => ({
      notify(scope, notification) {
        real.notify(scope, notification);
        real.notify(scope, notification);
      },
    })),
  },
  {
    defect: "forgets whom a notification is for",
    breaks: [
      "scope-apart",
      "notification",
      "notification-apart",
      "scope-unsubscribe",
      "scope-publisher-first",
      "scope-throwing",
      "nodes-scope",
    ],
    make: spoiledChannel((real) => ({ notify: (scope, { type }) => real.notify(scope, { type }) })),
  },
  {
    defect: "tells every scope what happens in one",
    breaks: ["scope-apart"],
    make: spoiledChannel((real) => ({
      subscribeScope(_, listener) {
        const stops = ["local", "other"].map((one) => real.subscribeScope(one, listener));
        return () => {
          for (const stop of stops) stop();
        };
      },
    })),
  },
  {
    defect: "tells a scope the newest events of a session first",
    breaks: ["scope-events"],
    make: spoiledChannel((real) => ({
      subscribeScope: (scope, listener) =>
        real.subscribeScope(scope, { ...listener, events: (session, events) => listener.events?.(session, events.toReversed()) }),
    })),
  },
  {
    defect: "names every session alike to a scope",
    breaks: ["scope-events"],
    make: spoiledChannel((real) => ({
      subscribeScope: (scope, listener) =>
        real.subscribeScope(scope, { ...listener, events: (_, events) => listener.events?.("first", events) }),
    })),
  },
  {
    defect: "takes notifications for events of every session",
    breaks: ["notification-apart"],
    make: spoiledChannel((real) => ({
      subscribe(ref, listener) {
        const stops = [
          real.subscribe(ref, listener),
          real.subscribeScope(ref.scope, {
            notification: () => listener([{ type: "progress", lane: 1, n: 9, callKey: "", id: "", title: "", state: "done" }]),
          }),
        ];
        return () => {
          for (const stop of stops) stop();
        };
      },
    })),
  },
  {
    defect: "cannot be left by who listens to a scope",
    breaks: ["scope-unsubscribe"],
    make: spoiledChannel((real) => ({
      subscribeScope(scope, listener) {
        real.subscribeScope(scope, listener);
        return () => {};
      },
    })),
  },
  {
    defect: "calls those who listen to a scope while it speaks",
    breaks: ["scope-publisher-first", "scope-unsubscribe", "scope-throwing", "nodes-scope"],
    make: async () => {
      const { channel: real, ...nodes } = memoryNodes();
      const listeners = new Map<ScopeListener, string>();
      const each = (scope: string, tell: (listener: ScopeListener) => void): void => {
        for (const [listener, own] of listeners) if (own === scope) tell(listener);
      };
      const channel: EventChannel = {
        ...real,
        publish(ref, events) {
          real.publish(ref, events);
          each(ref.scope, (listener) => listener.events?.(ref.session, events));
        },
        notify: (scope, notification) => each(scope, (listener) => listener.notification?.(notification)),
        subscribeScope(scope, listener) {
          const own = { ...listener };
          listeners.set(own, scope);
          return () => listeners.delete(own);
        },
      };
      return { ...nodes, channel };
    },
  },
  {
    defect: "drops a listener of a scope that has thrown",
    breaks: ["scope-throwing"],
    make: spoiledChannel((real) => ({
      subscribeScope(scope, listener) {
        const orLeave = (tell: () => void): void => {
          try {
            tell();
          } catch {
            stop();
          }
        };
        const stop = real.subscribeScope(scope, {
          events: (session, events) => orLeave(() => listener.events?.(session, events)),
          notification: (notification) => orLeave(() => listener.notification?.(notification)),
        });
        return stop;
      },
    })),
  },
];
