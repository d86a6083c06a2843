import type { EventChannel, SessionEvent } from "@loopwright/core";
import type { ChannelUnderTest } from "../../src/channel/channel-under-test.ts";
import type { Saboteur } from "../../src/kit/saboteur.ts";
import { memoryNodes } from "./memory-nodes.ts";
import { type ChannelSpoil, spoiledMemory, spoiledNode, spoiledWay } from "./node-saboteurs.ts";

const frameBytes = 64 * 1024 + 1;

/** The text as it is when its bytes are cut into frames and each frame is decoded by itself. */
function torn(text: string, sizeBytes: number): string {
  const bytes = new TextEncoder().encode(text);
  let decoded = "";
  for (let at = 0; at < bytes.length; at += sizeBytes)
    decoded += new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(at, at + sizeBytes));
  return decoded;
}

/** Loses events behind the first 5,000 of a turn. */
const losing: ChannelSpoil = (real) => {
  let written = 0;
  return {
    publish(ref, events) {
      if (written === 0)
        void Promise.resolve().then(() => {
          written = 0;
        });
      written += events.length;
      if (written <= 5_000) real.publish(ref, events);
    },
  };
};

/** A listener that gets one gap and no other. */
const onlyOnce = (gap: (() => void) | undefined): (() => void) => {
  let isNotified = false;
  return () => {
    if (!isNotified) gap?.();
    isNotified = true;
  };
};

/** Defects of event channels that lose something. */
export const channelLossSaboteurs: readonly Saboteur<ChannelUnderTest>[] = [
  {
    defect: "drops the end of a burst in silence",
    breaks: ["burst", "nodes-burst"],
    make: async () => {
      const nodes = memoryNodes();
      return { ...nodes, channel: { ...nodes.channel, ...losing(nodes.channel) } };
    },
  },
  {
    defect: "drops on another node what it cannot hold of a burst, in silence",
    breaks: ["nodes-burst"],
    make: spoiledNode((real) => ({
      subscribe(ref, listener, listening) {
        let received = 0;
        const receive = (events: readonly SessionEvent[]): void => {
          received += events.length;
          if (received < 10_000 || events.length === 1) listener(events);
        };
        return real.subscribe(ref, receive, listening);
      },
    })),
  },
  {
    defect: "notifies of a gap once, however long it is away",
    breaks: ["nodes-gap", "nodes-gap-again"],
    make: spoiledNode((real) => ({
      subscribe: (ref, listener, listening) => real.subscribe(ref, listener, { gap: onlyOnce(listening?.gap) }),
    })),
  },
  {
    defect: "receives again and emits nothing of what it has missed last",
    breaks: ["nodes-gap"],
    make: async () => {
      const nodes = memoryNodes();
      let isAway = false;
      const whileAway = (gap: (() => void) | undefined) => (): void => {
        if (isAway) gap?.();
      };
      const secondNode: EventChannel = {
        ...nodes.secondNode,
        subscribe: (ref, listener, listening) => nodes.secondNode.subscribe(ref, listener, { gap: whileAway(listening?.gap) }),
        subscribeScope: (scope, listener) => nodes.secondNode.subscribeScope(scope, { ...listener, gap: whileAway(listener.gap) }),
      };
      const cut: typeof nodes.cut = (act) => {
        isAway = true;
        return nodes.cut(async () => {
          await act();
          isAway = false;
        });
      };
      return { ...nodes, secondNode, cut };
    },
  },
  {
    defect: "notifies those that listen to a scope of a gap once, however long it is away",
    breaks: ["nodes-gap", "nodes-gap-again"],
    make: spoiledNode((real) => ({
      subscribeScope: (scope, listener) => real.subscribeScope(scope, { ...listener, gap: onlyOnce(listener.gap) }),
    })),
  },
  {
    defect: "tears a character at the border of a frame",
    breaks: ["nodes-characters"],
    make: spoiledWay((events) =>
      events.map((event) => ("text" in event && event.text.length > frameBytes ? { ...event, text: torn(event.text, frameBytes) } : event)),
    ),
  },
  {
    defect: "tears a character at the border of what it remembers",
    breaks: ["recall-characters"],
    make: spoiledMemory((events) =>
      events.map((event) => ("delta" in event && event.delta.length > 3_000 ? { ...event, delta: torn(event.delta, 4_099) } : event)),
    ),
  },
];
