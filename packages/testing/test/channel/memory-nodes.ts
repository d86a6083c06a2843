import type { EventChannel } from "@loopwright/core";
import { memoryChannel, systemClock } from "@loopwright/core/memory";
import type { ChannelUnderTest } from "../../src/channel/channel-under-test.ts";

/**
 * Two nodes of one process that share a channel, and a moment in which the second is deaf. The patience is short for adapters with a defect, which
 * make a case wait for all of it; an honest one needs more on a busy machine.
 */
export function memoryNodes(patienceMs = 60): Required<ChannelUnderTest> {
  const channel = memoryChannel({ lanesKept: 64 });
  const gaps = new Set<() => void>();
  let isDeaf = false;
  const secondNode: EventChannel = {
    ...channel,
    subscribe(ref, listener, listening) {
      const gap = (): void => listening?.gap?.();
      gaps.add(gap);
      const stop = channel.subscribe(ref, (events) => isDeaf || listener(events));
      return () => {
        gaps.delete(gap);
        stop();
      };
    },
    subscribeScope(scope, listener) {
      const gap = (): void => listener.gap?.();
      gaps.add(gap);
      const stop = channel.subscribeScope(scope, {
        events: (session, events) => isDeaf || listener.events?.(session, events),
        notification: (notification) => isDeaf || listener.notification?.(notification),
      });
      return () => {
        gaps.delete(gap);
        stop();
      };
    },
  };
  return {
    channel,
    secondNode,
    patienceMs,
    async cut(act) {
      isDeaf = true;
      const isAway = new AbortController();
      const deliver = (): void => {
        if (isAway.signal.aborted) return;
        for (const gap of [...gaps]) gap();
        systemClock.after(1, deliver);
      };
      deliver();
      await act();
      isAway.abort();
      await new Promise<void>((resolve) => {
        const stop = channel.subscribeScope("until-asked", { notification: () => resolve(stop()) });
        channel.notify("until-asked", { type: "told" });
      });
      isDeaf = false;
      for (const gap of [...gaps]) gap();
    },
  };
}
