import { type ManualClock, manualClock, memoryStore, seededIds, seededRandom } from "@loopwright/core/memory";
import type { SessionStore } from "@loopwright/core/ports";
import { runClock } from "../../host/test/turn-of-loop.ts";
import type { OpenSink } from "../src/stream/event-sink.ts";
import { busyAgent } from "./busy-agent.ts";
import { type FaultyStore, faultyStore } from "./faulty-store.ts";
import { openStreamDoor, type StreamDoor } from "./stream-door.ts";

/** A door with a busy agent behind it, on a clock that advances with every turn of the event loop. */
export interface BusyScene {
  readonly door: StreamDoor;
  readonly store: SessionStore;
  readonly clock: ManualClock;
  readonly random: () => number;
  /** Queues are so short that readers miss deltas now and then. */
  readonly isTight: boolean;
  readonly faulty: FaultyStore;
  close(): Promise<void>;
}

export interface BusySceneOptions {
  readonly spoil?: (openSink: OpenSink) => OpenSink;
  readonly mayHang?: boolean;
  /** How many calls of the log fail. Default: none. */
  readonly faultShare?: number;
}

/** Limits are drawn too: long and short memories, connections that age, sessions that are let go of while they are unused. */
export function openBusyScene(seed: number, { spoil, mayHang, faultShare = 0 }: BusySceneOptions = {}): BusyScene {
  const random = seededRandom(seed);
  const isTight = seed % 3 === 0;
  const clock = manualClock();
  const faulty = faultyStore(memoryStore({ clock }), random, faultShare);
  const { store } = faulty;
  const door = openStreamDoor({
    agents: [busyAgent(random, mayHang === undefined ? {} : { mayHang })],
    store,
    clock,
    ids: seededIds(seed),
    limits: {
      recentEvents: random() < 0.5 ? 1 + Math.floor(random() * 20) : 1_024,
      sessionIdleMs: random() < 0.5 ? 200 : 60_000,
      sessionsLoaded: random() < 0.3 ? 1 : 1_000,
      ...(isTight ? { streamQueueBytes: 3_000 } : {}),
      ...(random() < 0.5 ? { pingMs: 300, streamAgeMs: 2_000 } : {}),
    },
    ...(spoil ? { spoil } : {}),
  });
  const stop = runClock(clock, 20);
  return {
    door,
    store,
    clock,
    random,
    isTight,
    faulty,
    async close() {
      stop();
      await door.close();
    },
  };
}
