import type { LentSession, SimulatedHost } from "../world/simulated-host.ts";
import type { World } from "../world/simulated-world.ts";
import type { Recording } from "./recording.ts";
import { feedSession } from "./session-feed.ts";

export interface ConnectionOptions {
  readonly world: World;
  readonly host: SimulatedHost;
  readonly session: string;
  readonly recording: Recording;
  readonly delayMs: () => number;
  readonly onEnd: () => void;
}

/** More than what moments lose when they are rounded. */
const leastGapMs = 0.001;

/** A pipe that keeps the order and loses what is in it when either end goes away. Ends with the function it gives. */
export function connectTo({ world, host, session, recording, delayMs, onEnd }: ConnectionOptions): () => void {
  const { time, scope } = world;
  const { node } = host;
  let isOpen = true;
  let lastAtMs = 0;
  let stopFeed = (): void => {};
  const carry = (run: () => void): void => {
    lastAtMs = Math.max(lastAtMs + leastGapMs, time.nowMs + delayMs());
    time.schedule(lastAtMs - time.nowMs, () => isOpen && run());
  };
  const end = (): void => {
    if (!isOpen) return;
    isOpen = false;
    onEnd();
  };
  node.onDeath(() => void time.schedule(delayMs(), end));
  const serve = (lent: LentSession): void => {
    const finish = (): void => {
      stopFeed();
      carry(end);
    };
    const stop = feedSession({
      handle: lent.session,
      store: host.store,
      ref: { scope, session },
      after: recording.cursor,
      send: (events) => node.state !== "dead" && carry(() => recording.take(events)),
      end: finish,
    });
    let forgetEnd = (): void => {};
    stopFeed = () => {
      stop();
      forgetEnd();
      lent.release();
    };
    forgetEnd = host.onEnd(finish);
  };
  time.schedule(delayMs(), () =>
    node.enter(() => {
      if (!isOpen) return;
      host.lend(session).then(
        (lent) => (isOpen ? serve(lent) : lent.release()),
        () => carry(end),
      );
    }),
  );
  return () => {
    isOpen = false;
    time.schedule(delayMs(), () => node.enter(() => stopFeed()));
  };
}
