import type { Clock, IdSource } from "@loopwright/core/ports";
import type { HttpLimits } from "../server-limits.ts";
import type { EventSink } from "./event-sink.ts";
import { pingFrame } from "./sse-frames.ts";

export interface KeepAliveParts {
  readonly clock: Clock;
  readonly ids: IdSource;
}

/** Writes pings to idle event streams, and ends each stream at its maximum age. */
export interface StreamKeepAlive {
  /** Bytes queued for the slowest reader. */
  readonly longestQueueBytes: number;
  /** Pings the sink from now on, until it closes. */
  keep(sink: EventSink): void;
  /** Ends every stream. */
  close(): void;
}

export function createStreamKeepAlive(limits: Pick<HttpLimits, "pingMs" | "streamAgeMs">, { clock, ids }: KeepAliveParts): StreamKeepAlive {
  /** The time at which each stream reaches its maximum age. */
  const endOf = new Map<EventSink, number>();
  let isClosed = false;
  let cancelPing: (() => void) | undefined;
  /** One timer serves all streams. */
  const planPing = (): void => {
    if (endOf.size > 0 && !isClosed) cancelPing ??= clock.after(limits.pingMs, ping, { idle: true });
  };
  const ping = (): void => {
    cancelPing = undefined;
    const now = clock.now();
    for (const [sink, endsAt] of endOf) {
      if (now >= endsAt) sink.end();
      else if (sink.queuedBytes === 0) sink.write(pingFrame);
    }
    planPing();
  };
  return {
    get longestQueueBytes() {
      let bytes = 0;
      for (const { queuedBytes } of endOf.keys()) bytes = Math.max(bytes, queuedBytes);
      return bytes;
    },
    keep(sink) {
      // Random, so that streams that began together do not all end, and reconnect, together.
      endOf.set(sink, clock.now() + limits.streamAgeMs * (0.8 + 0.4 * ids.random()));
      sink.onClose(() => endOf.delete(sink));
      planPing();
    },
    close() {
      isClosed = true;
      cancelPing?.();
      for (const sink of [...endOf.keys()]) sink.end();
    },
  };
}
