import type { EventChannel } from "@loopwright/core";
import type { ScopeListener } from "@loopwright/core/ports";
import type { ChannelUnderTest } from "../../src/channel/channel-under-test.ts";
import type { Saboteur } from "../../src/kit/saboteur.ts";
import { spoiledChannel } from "./channel-saboteurs.ts";
import { memoryNodes } from "./memory-nodes.ts";

/** Defects in events of a scope, and in notifications. */
export const channelScopeSaboteurs: readonly Saboteur<ChannelUnderTest>[] = [
  {
    defect: "keeps events from those that listen to the scope",
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
    defect: "forgets the user of a notification",
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
    defect: "sends every scope what happens in one",
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
    defect: "sends a scope the newest events of a session first",
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
    defect: "cannot be left by a process that listens to a scope",
    breaks: ["scope-unsubscribe"],
    make: spoiledChannel((real) => ({
      subscribeScope(scope, listener) {
        real.subscribeScope(scope, listener);
        return () => {};
      },
    })),
  },
  {
    defect: "calls those that listen to a scope while it speaks",
    breaks: ["scope-publisher-first", "scope-unsubscribe", "scope-throwing", "nodes-scope"],
    make: async () => {
      const { channel: real, ...nodes } = memoryNodes();
      const listeners = new Map<ScopeListener, string>();
      const each = (scope: string, deliver: (listener: ScopeListener) => void): void => {
        for (const [listener, own] of listeners) if (own === scope) deliver(listener);
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
        const orLeave = (deliver: () => void): void => {
          try {
            deliver();
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
