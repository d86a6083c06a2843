import { AgentError } from "@loopwright/core";
import type { Clock, IdSource } from "@loopwright/core/ports";
import type { ServerLimits } from "../server-limits.ts";
import type { EventSink } from "./event-sink.ts";
import { pingFrame } from "./frames.ts";
import type { StreamPlace, StreamRegistry } from "./stream-registry.ts";

/** Streams that began together do not end together. */
export function createStreamRegistry(
  limits: ServerLimits,
  { clock, ids }: { readonly clock: Clock; readonly ids: IdSource },
): StreamRegistry {
  const counts = new Map<string, number>();
  /** When each ends. */
  const sinks = new Map<EventSink, number>();
  let total = 0;
  let isClosed = false;
  let cancelPing: (() => void) | undefined;

  function add(key: string, by: 1 | -1): void {
    const count = (counts.get(key) ?? 0) + by;
    if (count > 0) counts.set(key, count);
    else counts.delete(key);
  }

  /** One timer for all. */
  function planPing(): void {
    if (sinks.size === 0) return;
    cancelPing ??= clock.after(
      limits.pingMs,
      () => {
        cancelPing = undefined;
        const now = clock.now();
        for (const [sink, endsAt] of sinks) {
          if (now >= endsAt) sink.end();
          else if (sink.queuedBytes === 0) sink.write(pingFrame);
        }
        planPing();
      },
      { idle: true },
    );
  }

  return {
    get open() {
      return total;
    },
    take({ scope, user }) {
      if (isClosed) throw new AgentError("NOT_READY", { message: "The server is shutting down.", retryAfterMs: 2_000 });
      const places = [`${scope}/${user}`, scope] as const;
      check(counts.get(places[0]) ?? 0, limits.streamsPerPrincipal, "of this caller");
      check(counts.get(places[1]) ?? 0, limits.streamsPerScope, "of this scope");
      check(total, limits.streams, "of this server");
      for (const key of places) add(key, 1);
      total += 1;
      let isTaken = true;
      const place: StreamPlace = {
        hold(sink) {
          if (isClosed) {
            sink.onClose(place.release);
            sink.end();
            return;
          }
          sinks.set(sink, clock.now() + limits.streamAgeMs * (0.8 + 0.4 * ids.random()));
          sink.onClose(() => {
            sinks.delete(sink);
            place.release();
          });
          planPing();
        },
        release() {
          if (!isTaken) return;
          isTaken = false;
          for (const key of places) add(key, -1);
          total -= 1;
        },
      };
      return place;
    },
    close() {
      isClosed = true;
      cancelPing?.();
      for (const sink of [...sinks.keys()]) sink.end();
    },
  };
}

const retryAfterMs = 10_000;

function check(count: number, most: number, whose: string): void {
  if (count < most) return;
  throw new AgentError("CONNECTION_LIMIT", { message: `${most} event streams ${whose} are open already.`, retryAfterMs });
}
