import { BoundedSendQueue } from "../stream/bounded-send-queue.ts";
import type { EventSink } from "../stream/event-sink.ts";
import { streamHeaders } from "../stream/stream-headers.ts";
import type { StreamPlace } from "../stream/stream-registry.ts";
import type { RequestContext } from "./route.ts";

export interface HeldSink {
  readonly sink: BoundedSendQueue;
  readonly response: Response;
}

export interface HeldSinkOptions {
  readonly headers?: { readonly [name: string]: string };
  /** Bytes that may be queued. Default: `limits.streamQueueBytes`. */
  readonly queueBytes?: number;
  /** Wraps the sink of the connection. Default: it is used unchanged. */
  readonly over?: (sink: EventSink) => EventSink;
}

/** Opens the stream of a request in a slot, which is released if opening fails. @throws AgentError STORE_UNAVAILABLE when the request was answered already */
export function openHeldSink(
  { openSink, server, principal, checkAgain }: RequestContext,
  place: StreamPlace,
  { headers, queueBytes, over = (sink) => sink }: HeldSinkOptions = {},
): HeldSink {
  const { clock, limits } = server;
  try {
    const opened = openSink({ status: 200, headers: streamHeaders(headers) });
    const bounds = { streamStallMs: limits.streamStallMs, streamQueueBytes: queueBytes ?? limits.streamQueueBytes };
    const sink = BoundedSendQueue.over(over(opened.sink), { clock, limits: bounds });
    place.hold(sink, { checkAgain, expiresAt: principal.expiresAt });
    return { sink, response: opened.response };
  } catch (error) {
    place.release();
    throw error;
  }
}
