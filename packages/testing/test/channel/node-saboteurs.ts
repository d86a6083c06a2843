import type { EventChannel, SessionEvent } from "@loopwright/core";
import type { ChannelUnderTest } from "../../src/channel/channel-under-test.ts";
import type { Saboteur } from "../../src/kit/saboteur.ts";
import type { Make } from "../../src/kit/store-case.ts";
import { memoryNodes } from "./memory-nodes.ts";

/** What a saboteur changes of a channel. */
export type ChannelSpoil = (real: EventChannel) => Partial<EventChannel>;

/** Nodes of which the second is changed. */
export function spoiledNode(spoil: ChannelSpoil): Make<ChannelUnderTest> {
  return async () => {
    const nodes = memoryNodes();
    return { ...nodes, secondNode: { ...nodes.secondNode, ...spoil(nodes.secondNode) } };
  };
}

/** Events are changed on their way to the second node. */
export const spoiledWay = (change: (events: readonly SessionEvent[]) => readonly SessionEvent[]): Make<ChannelUnderTest> =>
  spoiledNode((real) => ({
    subscribe: (ref, listener, listening) => real.subscribe(ref, (events) => listener(change(events)), listening),
  }));

/** What is recalled is changed. */
export function spoiledMemory(spoil: (events: readonly SessionEvent[], lane: number) => readonly SessionEvent[]): Make<ChannelUnderTest> {
  return async () => {
    const nodes = memoryNodes();
    const spoiled = (channel: EventChannel): EventChannel => ({
      ...channel,
      recall: async (ref, lane) => spoil((await channel.recall?.(ref, lane)) ?? [], lane).filter((event) => "lane" in event),
    });
    return { ...nodes, channel: spoiled(nodes.channel), secondNode: spoiled(nodes.secondNode) };
  };
}

/** Defects of event channels between nodes, and of what they keep. */
export const channelNodeSaboteurs: readonly Saboteur<ChannelUnderTest>[] = [
  {
    defect: "turns round what another node receives",
    breaks: ["nodes-burst", "nodes-characters", "nodes-order", "nodes-both-ways", "nodes-content"],
    make: spoiledWay((events) => events.toReversed()),
  },
  {
    defect: "sends another node everything twice",
    breaks: [
      "nodes-burst",
      "nodes-characters",
      "nodes-order",
      "nodes-both-ways",
      "nodes-content",
      "nodes-apart",
      "nodes-gap",
      "nodes-hostile",
    ],
    make: spoiledWay((events) => events.flatMap((event) => [event, event])),
  },
  {
    defect: "trims texts on the way",
    breaks: ["nodes-content"],
    make: spoiledWay((events) => events.map((event) => ("text" in event ? { ...event, text: event.text.trim() } : event))),
  },
  {
    defect: "joins deltas of a lane whatever lies between",
    breaks: ["nodes-content"],
    make: spoiledWay((events) => {
      const first = events.find((event) => "delta" in event && event.lane === 4);
      let n = first && "n" in first ? first.n : 0;
      return events.map((event) => ("delta" in event && event.lane === 4 ? { ...event, n: n++ } : event));
    }),
  },
  {
    defect: "receives nothing of its own on a node that listens to others",
    breaks: ["nodes-both-ways"],
    make: spoiledNode((real) => {
      const own = new Set<SessionEvent>();
      return {
        publish(ref, events) {
          for (const event of events) own.add(event);
          real.publish(ref, events);
        },
        subscribe: (ref, listener, listening) =>
          real.subscribe(ref, (events) => listener(events.filter((event) => !own.has(event))), listening),
      };
    }),
  },
  {
    defect: "takes a session whose id begins alike for the same, on another node",
    breaks: ["nodes-apart"],
    make: spoiledNode((real) => ({
      subscribe(ref, listener, listening) {
        const names = ref.session === "a" ? ["a", "a-b"] : [ref.session];
        const stops = names.map((session) => real.subscribe({ ...ref, session }, listener, listening));
        return () => {
          for (const stop of stops) stop();
        };
      },
    })),
  },
  {
    defect: "ends an id at a line break",
    breaks: ["nodes-hostile"],
    make: async () => {
      const nodes = memoryNodes();
      const cut = (id: string): string => id.split("\n")[0] ?? "";
      const { channel } = nodes;
      return {
        ...nodes,
        channel: {
          ...channel,
          publish: ({ scope, session }, events) => channel.publish({ scope: cut(scope), session: cut(session) }, events),
        },
      };
    },
  },
  {
    defect: "takes an id for a pattern, on another node",
    breaks: ["nodes-hostile"],
    make: spoiledNode((real) => ({
      subscribe: (ref, listener, listening) =>
        ref.scope === "*" ? real.subscribe({ ...ref, scope: "a" }, listener, listening) : real.subscribe(ref, listener, listening),
    })),
  },
  {
    defect: "keeps notifications from another node",
    breaks: ["nodes-scope"],
    make: spoiledNode((real) => ({
      subscribeScope: (scope, { notification: _, ...rest }) => real.subscribeScope(scope, rest),
    })),
  },
  {
    defect: "is silent about what a node has missed",
    breaks: ["nodes-gap-again", "nodes-gap"],
    make: spoiledNode((real) => ({ subscribe: (ref, listener) => real.subscribe(ref, listener) })),
  },
  {
    defect: "is silent about what a node has missed of a scope",
    breaks: ["nodes-gap-again", "nodes-gap"],
    make: spoiledNode((real) => ({ subscribeScope: (scope, { gap: _, ...rest }) => real.subscribeScope(scope, rest) })),
  },
  {
    defect: "receives nothing more once it was cut",
    breaks: ["nodes-gap"],
    make: async () => {
      const nodes = memoryNodes();
      let wasCut = false;
      const secondNode: EventChannel = {
        ...nodes.secondNode,
        subscribe: (ref, listener, listening) => nodes.secondNode.subscribe(ref, (events) => wasCut || listener(events), listening),
      };
      const cut = async (act: () => void): Promise<void> => {
        await nodes.cut(act);
        wasCut = true;
      };
      return { ...nodes, secondNode, cut };
    },
  },
  {
    defect: "is deaf for ever on a node that left and came back in one turn",
    breaks: ["nodes-again"],
    make: spoiledNode((real) => {
      let listeners = 0;
      let isLeaving = false;
      const join = (subscribe: () => () => void): (() => void) => {
        const stop = isLeaving ? undefined : subscribe();
        let isOn = true;
        listeners++;
        return () => {
          stop?.();
          if (!isOn) return;
          isOn = false;
          isLeaving = --listeners === 0;
          void Promise.resolve().then(() => {
            isLeaving = false;
          });
        };
      };
      return {
        subscribe: (...how) => join(() => real.subscribe(...how)),
        subscribeScope: (...how) => join(() => real.subscribeScope(...how)),
      };
    }),
  },
  {
    defect: "remembers nothing",
    breaks: ["recall-characters", "recall", "recall-grows", "recall-bounded", "recall-nodes"],
    make: spoiledMemory(() => []),
  },
  {
    defect: "remembers the newest first",
    breaks: ["recall", "recall-grows", "recall-bounded", "recall-nodes"],
    make: spoiledMemory((events) => events.toReversed()),
  },
  {
    defect: "recalls what it has not received",
    breaks: ["recall"],
    make: spoiledMemory((events, lane) => (events.length === 0 && lane === 1 ? [{ type: "text_start", lane, n: 1, index: 0 }] : events)),
  },
  {
    defect: "remembers 500 events of a lane",
    breaks: ["recall-grows"],
    make: spoiledMemory((events) => events.slice(-500)),
  },
  {
    defect: "remembers all of a lane",
    breaks: ["recall-bounded"],
    make: async () => {
      const nodes = memoryNodes();
      const all: SessionEvent[] = [];
      const { channel } = nodes;
      return {
        ...nodes,
        channel: {
          ...channel,
          publish(ref, events) {
            all.push(...events);
            channel.publish(ref, events);
          },
          recall: async (ref, lane) =>
            all.length > 4_000 ? all.filter((event) => "lane" in event) : ((await channel.recall?.(ref, lane)) ?? []),
        },
      };
    },
  },
  {
    defect: "remembers a lane only where it was sent",
    breaks: ["recall-nodes"],
    make: spoiledNode(() => ({ recall: async () => [] })),
  },
];
